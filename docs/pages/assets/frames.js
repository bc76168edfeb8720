// Pages in frames follow the system's theme by themselves. A frame without an origin cannot see the
// theme chosen on this page, so it is passed in the frame's URL.
const system = matchMedia("(prefers-color-scheme: dark)");

function tell() {
  const dark = document.body.dataset.mdColorScheme === "slate";
  for (const frame of document.querySelectorAll(".md-typeset iframe[src]")) {
    const [page] = frame.src.split("#");
    const address = dark === system.matches ? page : `${page}#theme=${dark ? "dark" : "light"}`;
    if (frame.src !== address) frame.src = address;
  }
}

new MutationObserver(tell).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
system.addEventListener("change", tell);
tell();
