import { afterEach, beforeEach } from "vitest";

/** A scope that lasts for one test; afterwards its listeners and the page are gone. */
export function scoped(): Pick<AbortController, "signal" | "abort"> {
  let controller = new AbortController();
  beforeEach(() => {
    controller = new AbortController();
  });
  afterEach(() => {
    controller.abort();
    document.body.replaceChildren();
  });
  return {
    get signal() {
      return controller.signal;
    },
    abort: () => controller.abort(),
  };
}
