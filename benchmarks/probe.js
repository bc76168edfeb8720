// Injected into every page before its own scripts: one clock for all contenders.
// A time ends when the browser has painted, and only if the drawing has changed.
{
  const shown = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));

  // A number that changes with the pixels of every canvas; 0 while all are blank. It is fast, so
  // that checking after every frame does not slow a contender down.
  const pixels = () => {
    let sum = 0;
    for (const canvas of document.querySelectorAll("canvas")) {
      if (!canvas.width || !canvas.height) continue;
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const colors = new Uint32Array(data.buffer);
      for (let at = 0; at < colors.length; at++) sum = (Math.imul(sum, 31) + colors[at]) | 0;
    }
    return sum;
  };

  // The same for lines of an SVG: the opacity and visibility of a thousand of them.
  const strokes = () => {
    const lines = document.getElementsByTagName("line");
    const kept = [document.querySelector("#attention")?.getAttribute("visibility")];
    const step = Math.max(1, Math.floor(lines.length / 1000));
    for (let at = 0; at < lines.length; at += step) {
      kept.push(lines[at].getAttribute("stroke-opacity"), lines[at].getAttribute("visibility"));
    }
    return lines.length ? kept.join() : 0;
  };

  const send = (node, Kind, name, more) =>
    node.dispatchEvent(new Kind(name, { bubbles: true, cancelable: true, ...more }));
  const chosen = (select, value) => {
    select.value = value;
    send(select, Event, "change");
  };

  const normviz = {
    look: pixels,
    there: () => document.querySelector(".nv-sentence")?.textContent,
    layer: (n) => document.querySelector(`.normviz .nv-layers [data-layer="${n}"]`).click(),
    head: (n) => document.querySelector(`.normviz .nv-heads button[title="head ${n}"]`).click(),
    hover: (n) =>
      send(document.querySelectorAll(".nv-tokens.nv-query li")[n], PointerEvent, "pointerover"),
  };
  const contenders = {
    snapshot: normviz,
    widget: normviz,
    bertviz: {
      look: strokes,
      there: () => document.querySelector("#vis line"),
      layer: (n) => chosen(document.querySelector("#layer"), n),
      head: (n) => send(document.querySelectorAll("#vis svg > g:last-child > rect")[n], MouseEvent, "click"),
      hover: (n) => send(document.querySelectorAll("#left text")[n], MouseEvent, "mouseover"),
    },
    circuitsvis: {
      look: pixels,
      there: () => document.querySelectorAll("canvas").length && pixels(),
      head: (n) => send(document.querySelectorAll("canvas")[n], MouseEvent, "mouseover"),
      hover: (n) => {
        const canvas = [...document.querySelectorAll("canvas")].at(-1);
        const { left, top, width, height } = canvas.getBoundingClientRect();
        const place = { clientX: left + width * 0.4 + 40 * n, clientY: top + height * 0.4 };
        send(canvas, MouseEvent, "mousemove", place);
      },
    },
  };

  // From the start of the navigation, or another time, to two frames after the first picture.
  const first = async (name, start = 0) => {
    const { there, look } = contenders[name];
    while (!there()) await shown();
    const seen = performance.now() - start;
    await shown();
    await shown();
    const took = performance.now() - start;
    return { seen, took, changed: look() !== 0 };
  };

  // The last time at which the picture changed, after waiting until it no longer changes.
  const still = async (look, start) => {
    let [last, drawn] = [performance.now(), look()];
    while (performance.now() - last < 300) {
      await shown();
      const now = performance.now();
      const found = look();
      if (found !== drawn) [last, drawn] = [now, found];
    }
    return last - start;
  };

  // From an event on a contender's own control to the paint of the first and of the last change.
  const timed = async (name, kind, n) => {
    const { look, [kind]: act } = contenders[name];
    await still(look, 0); // wait for the previous step to finish
    const before = look();
    await shown();
    const start = performance.now();
    act(n);
    for (let frame = 0; frame < 200; frame++) {
      await shown();
      const took = performance.now() - start;
      if (look() === before) continue;
      const whole = kind === "layer" ? Math.max(took, await still(look, start)) : null;
      return { took, whole, changed: true };
    }
    return { took: 0, changed: false };
  };

  // The number of nodes in the page, including shadow roots and accessible frames.
  const nodes = (root = document) => {
    let count = 0;
    for (const node of root.querySelectorAll("*")) {
      count += 1 + (node.shadowRoot ? nodes(node.shadowRoot) : 0);
      if (node.contentDocument) count += nodes(node.contentDocument);
    }
    return count;
  };

  window.probe = { first, timed, nodes };
}
