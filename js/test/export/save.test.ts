import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PALETTES } from "../../src/draw/colors";
import { recorder } from "../../src/draw/pen";
import { escapeXml, markup, shortNumber } from "../../src/draw/xml";
import { fontsAfter, inkOf, inksIn } from "../../src/export/color";
import { alongText, intersectionOf, onPage, unionOf } from "../../src/export/geometry";
import {
  breakLines,
  ellipsize,
  joinLines,
  type Letter,
  type Line,
  lineToSvg,
  positionBefore,
  spanOf,
} from "../../src/export/lines";
import { fileName } from "../../src/export/save";
import { Store } from "../../src/state/store";
import { flowView } from "../../src/views/flow/view";
import { paintBars, paintRibbons } from "../../src/views/shared/paint";
import { header, pane, state } from "../support/fixtures";

/** What a reader of XML makes of it. */
function parsed(text: string): Element {
  return new DOMParser().parseFromString(`<a>${text}</a>`, "application/xml").documentElement;
}

describe("markup", () => {
  test("gives every text back as text, but for what XML forbids", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const made = escapeXml(text);
        expect(made).not.toMatch(/[<>"]|&(?!(amp|lt|gt|quot);)/);
        const back = made
          .replace(/&lt;/g, "<")
          .replace(/&gt;/g, ">")
          .replace(/&quot;/g, '"')
          .replace(/&amp;/g, "&");
        expect(back).toHaveLength(text.length);
        [...back].forEach((letter, at) => {
          if (letter !== "\ufffd") expect(letter).toBe([...text][at]);
        });
      }),
    );
  });

  test("leaves out what no XML file may hold, and nothing else", () => {
    expect(escapeXml("\x00\x08\x0b\x1f\ud800\udc00x\ud800 \udc00\ufffe\uffff")).toBe(
      "\ufffd\ufffd\ufffd\ufffd\ud800\udc00x\ufffd \ufffd\ufffd\ufffd",
    );
    expect(escapeXml("\t\n\r\x7f\u202e\u0085é漢")).toBe("\t\n\r\x7f\u202e\u0085é漢");
  });

  test("writes attributes that are there, with few digits", () => {
    expect(markup("text", { x: 1.23456, y: null, title: '"<' }, "a")).toBe(
      '<text x="1.23" title="&quot;&lt;">a</text>',
    );
    expect([0, 100, -0.5, 0.012345, 12.3456, 1e-9].map(shortNumber)).toEqual([
      ...["0", "100", "-0.5", "0.0123", "12.35", "1e-9"],
    ]);
  });
});

describe("a recorder", () => {
  test("keeps ribbons and bars where a canvas would have painted them", () => {
    const pen = recorder();
    const ribbon = (width: number) => ({ plane: 0, query: 0, key: 0, width, from: 5, to: 15 });
    paintRibbons(pen, [ribbon(1), ribbon(2)], { left: 0, right: 10 }, ["#112233"], 0.75);
    paintBars(
      pen,
      [{ plane: 0, key: 1, start: 0, end: 0.5 }],
      { base: 50, reach: -40, pitch: 10 },
      ["#445566"],
    );
    const marks = pen.marks().map((mark) => parsed(mark).firstElementChild);
    expect(marks.map((mark) => mark?.getAttribute("stroke-width"))).toEqual(["1", "2", null]);
    expect(marks[0]?.getAttribute("d")).toBe("M0 5C5 5 5 15 10 15");
    // The widest is the most solid.
    expect(marks.map((mark) => mark?.getAttribute("stroke-opacity"))).toEqual([
      "0.6",
      "0.75",
      null,
    ]);
    const bar = ["x", "y", "width", "height", "fill"].map((name) => marks[2]?.getAttribute(name));
    expect(bar).toEqual(["30", "13", "20", "4", "#445566"]);
  });
});

test("the flow's marks are as many as its legend says, and a token's own when one is in focus", () => {
  const actions = { hover: () => undefined, pin: () => undefined, choose: () => undefined };
  const view = flowView(actions, new AbortController().signal);
  const shown = pane([
    [
      [0.5, 0.25, 0.25],
      [0.2, 0.4, 0.4],
    ],
  ]);
  view.draw(shown, PALETTES.light);
  const paths = () => [...(view.vectors?.().values() ?? [])].map((marks) => marks.length);
  expect(view.legend().map(String)).toContain("all 6 ribbons drawn");
  expect(paths()).toEqual([6, 0]);
  view.highlight({ role: "query", token: 1 });
  expect(paths()).toEqual([0, 3]);
});

describe("colors", () => {
  test("are read as browsers compute them", () => {
    expect(inkOf("rgb(29, 33, 37)")).toEqual({ color: "#1d2125", alpha: 1 });
    expect(inkOf("rgba(255, 0, 0, 0.5)")).toEqual({ color: "#ff0000", alpha: 0.5 });
    expect(inkOf("rgb(0 128 255 / 25%)")).toEqual({ color: "#0080ff", alpha: 0.25 });
    expect(inkOf("color(srgb 1 0.5 0)")).toEqual({ color: "#ff8000", alpha: 1 });
    expect(["none", "rgba(0, 0, 0, 0)", "transparent", ""].map(inkOf)).toEqual([
      ...[null, null, null, null],
    ]);
    expect(inksIn("linear-gradient(to right, rgb(1, 2, 3), rgb(4, 5, 6))")).toHaveLength(2);
  });

  test("fonts are named, down to any without serifs", () => {
    expect(fontsAfter('system-ui, "Segoe UI", Arial, sans-serif')).toBe(
      "system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif",
    );
    expect(fontsAfter("Times, serif")).toMatch(/sans-serif$/);
  });
});

describe("places", () => {
  const box = fc
    .tuple(...[fc.nat(99), fc.nat(99), fc.integer({ min: 1, max: 99 }), fc.nat(99)])
    .map(([left, top, wide, tall]) => ({ left, top, right: left + wide, bottom: top + tall + 1 }));

  test("are the same along a line and back, turned or not", () => {
    fc.assert(
      fc.property(box, fc.boolean(), (one, isTurned) => {
        const there = alongText(one, isTurned);
        expect(there.start).toBeLessThan(there.end);
        expect(onPage(there, isTurned)).toEqual(one);
      }),
    );
  });

  test("share no more than either has, and lie in what is around both", () => {
    fc.assert(
      fc.property(box, box, (one, other) => {
        const both = unionOf(one, other);
        expect(intersectionOf(one, both)).toEqual(one);
        expect(intersectionOf(one, other)).toEqual(intersectionOf(other, one));
      }),
    );
    expect(
      intersectionOf(
        { left: 0, top: 0, right: 1, bottom: 1 },
        { left: 1, top: 0, right: 2, bottom: 1 },
      ),
    ).toBeNull();
  });
});

/** Letters ten pixels wide, in lines of so many. */
function letters(text: string, across = 99): Letter[] {
  return [...text].map((letter, at) => {
    const [column, row] = [at % across, Math.floor(at / across)];
    const span = {
      start: column * 10,
      end: column * 10 + 10,
      top: row * 20,
      bottom: row * 20 + 15,
    };
    return { text: letter, span };
  });
}

function line(text: string, start: number, changes: Partial<Line> = {}): Line {
  return {
    ...{ text, ascent: 12, edge: "left", isRtl: false, isTurned: false, block: 1 },
    ...{ size: 12, weight: "400", ink: { color: "#000000", alpha: 1 }, stroke: 0, halo: null },
    span: { start, end: start + text.length * 10, top: 0, bottom: 15 },
    ...changes,
  };
}

describe("lines of text", () => {
  test("are broken where the page breaks them, and nothing is lost", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (text, across) => {
        const lines = breakLines(letters(text, across)).map((some) => some.map((one) => one.text));
        expect(lines.flat()).toEqual([...text]);
        expect(lines).toHaveLength(Math.ceil([...text].length / across));
      }),
    );
    const marks = [
      { text: "\u202e", span: null },
      ...letters("ab"),
      { text: "\u202c", span: null },
    ];
    expect(breakLines(marks)).toHaveLength(1);
    expect(spanOf(marks)).toMatchObject({ start: 0, end: 20 });
  });

  test("that a style sheet puts before others stand where the others leave room", () => {
    const span = (start: number, end: number, row: number) => {
      return { start, end, top: row * 20, bottom: row * 20 + 15 };
    };
    const dot = (boxes: ReturnType<typeof span>[], first: ReturnType<typeof span> | null) =>
      positionBefore(" · ", 12, boxes, first);
    expect(dot([span(30, 80, 0)], span(42, 80, 0))).toEqual({ text: " · ", span: span(30, 42, 0) });
    const after = [span(90, 102, 0), span(0, 40, 1)];
    expect(dot(after, span(0, 40, 1))).toEqual({ text: " · ", span: span(90, 102, 0) });
    const within = [span(96, 100, 0), span(0, 48, 1)];
    expect(dot(within, span(8, 48, 1))).toEqual({ text: "· ", span: span(0, 8, 1) });
    expect(dot([span(5, 17, 0)], null).span).toEqual(span(5, 17, 0));
    const tall = { start: 42, end: 60, top: -10, bottom: 25 };
    expect(dot([span(30, 80, 0)], tall).span).toEqual(span(30, 42, 0));
  });

  test("are cut so that the ellipsis fits, at the end that is out of sight", () => {
    const found = ellipsize(letters("abcdefgh"), 52, 10, false);
    expect(found).toEqual({ text: "abcd…", span: { start: 0, end: 50, top: 0, bottom: 15 } });
    const arabic = letters("abcdefgh").reverse();
    expect(ellipsize(arabic, 52, 10, true)?.text).toBe("…dcba");
    expect(ellipsize(letters("abc"), 5, 10, false)?.text).toBe("…");
    expect(ellipsize([], 5, 10, false)).toBeNull();
  });

  test("are joined where they touch and look alike, and only there", () => {
    const texts = (...lines: Line[]) =>
      joinLines(lines).map((mark) => (typeof mark === "string" ? mark : mark.text));
    expect(texts(line("ab", 0), line(" · ", 20), line("cd", 50))).toEqual(["ab · cd"]);
    expect(texts(line("ab", 0), line("cd", 20))).toEqual(["abcd"]);
    expect(texts(line("ab", 0), line("cd", 24))).toEqual(["ab cd"]);
    expect(texts(line("ab ", 0), line("cd", 34))).toEqual(["ab cd"]);
    expect(texts(line("ab", 0), line("cd", 40))).toEqual(["ab", "cd"]);
    expect(texts(line("ab", 0), line("cd", 20, { block: 2 }))).toEqual(["ab", "cd"]);
    expect(texts(line("ab", 0), line("cd", 20, { weight: "600" }))).toEqual(["ab", "cd"]);
    expect(texts(line("ab", 0, { isRtl: true }), line("cd", 20, { isRtl: true }))).toHaveLength(2);
    const lower = { start: 20, end: 40, top: 20, bottom: 35 };
    expect(texts(line("ab", 0), line("cd", 20, { span: lower }))).toEqual(["ab", "cd"]);
  });

  test.each([
    ["left", false, "20", null],
    ["right", false, "40", "end"],
    ["middle", false, "30", "middle"],
    ["left", true, "20", "end"],
    ["right", true, "40", null],
  ] as const)("are held at their %s edge (right to left: %s)", (edge, isRtl, x, anchor) => {
    const text = parsed(lineToSvg(line("ab", 20, { edge, isRtl }))).firstElementChild;
    expect(text?.getAttribute("x")).toBe(x);
    expect(text?.getAttribute("text-anchor")).toBe(anchor);
    expect(text?.getAttribute("direction")).toBe(isRtl ? "rtl" : null);
  });

  test("stand turned, glow, and keep the space before them", () => {
    const made = parsed(
      lineToSvg(line(" <b>", 0, { isTurned: true, halo: "#ffffff", stroke: 0.5 })),
    );
    const [halo, own] = [...made.children];
    expect(halo.getAttribute("stroke")).toBe("#ffffff");
    expect(own.textContent).toBe(" <b>");
    expect(own.getAttribute("transform")).toBe("rotate(-90)");
    expect(own.getAttribute("xml:space")).toBe("preserve");
    expect(own.getAttribute("stroke-width")).toBe("0.5");
    expect(lineToSvg(line("  ", 0))).toBe("");
  });
});

test("a file's name has only what every system takes", () => {
  const named = (model: string) => {
    const flows = [{ ...header.flows[0], model }];
    return fileName(new Store({ ...header, flows }, { ...state, layer: 2, measure: "weight" }));
  };
  expect(named("google/bert base: v1.1")).toBe("normviz-google-bert-base-v1.1-layer2-weight");
  expect(named("../../etc")).toBe("normviz-etc-layer2-weight");
  expect(named("漢字")).toBe("normviz-layer2-weight");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (model) => {
      expect(named(model)).toMatch(/^normviz(-[A-Za-z0-9][A-Za-z0-9.-]{0,59})?-layer2-weight$/);
    }),
  );
});
