/** Keeps the page's URL in step with the state, where the host allows it. */

/** Browsers allow about three URL changes per second; the milliseconds between two changes. */
const MIN_INTERVAL = 350;

/** A function to call whenever the hash may have changed; it is written soon after. */
export function hashWriter(hash: () => string): () => void {
  let last = Number.NEGATIVE_INFINITY;
  let isDue = false;
  const write = (): void => {
    isDue = false;
    last = performance.now();
    replaceHash(hash());
  };
  return () => {
    if (isDue) return;
    isDue = true;
    const wait = last + MIN_INTERVAL - performance.now();
    if (wait <= 0) write();
    else setTimeout(write, wait);
  };
}

function replaceHash(hash: string): void {
  const [page] = location.href.split("#");
  const url = hash === "" ? page : `${page}#${hash}`;
  if (url === location.href) return;
  try {
    history.replaceState(history.state, "", url);
  } catch {
    // A frame without a URL of its own cannot change it.
  }
}
