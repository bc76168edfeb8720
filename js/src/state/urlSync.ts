/** The page's address, kept the same as what is chosen; where the host forbids that, left alone. */

/** Browsers allow about three changes in a second, in milliseconds from one to the next. */
const REST = 350;

/** Something to call whenever the address may have become another; it is written soon. */
export function keeper(hash: () => string): () => void {
  let last = Number.NEGATIVE_INFINITY;
  let isDue = false;
  const write = (): void => {
    isDue = false;
    last = performance.now();
    replace(hash());
  };
  return () => {
    if (isDue) return;
    isDue = true;
    const wait = last + REST - performance.now();
    if (wait <= 0) write();
    else setTimeout(write, wait);
  };
}

function replace(hash: string): void {
  const [page] = location.href.split("#");
  const wanted = hash === "" ? page : `${page}#${hash}`;
  if (wanted === location.href) return;
  try {
    history.replaceState(history.state, "", wanted);
  } catch {
    // A frame without an address of its own does without.
  }
}
