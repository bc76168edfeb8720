/** A value that tells those who watch it when it changes. */

export class Cell<T> {
  #value: T;
  readonly #watchers = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  /** Put a new value in; nobody is told when it is the same. */
  set(value: T): void {
    if (same(value, this.#value)) return;
    this.#value = value;
    this.tell();
  }

  /** Tell everyone who watches, also where the value stayed. */
  tell(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  /** Be told of changes until the signal says stop. */
  watch(watcher: () => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#watchers.add(watcher);
    signal.addEventListener("abort", () => this.#watchers.delete(watcher), { once: true });
  }

  /** How many are watching; a view that has left must not be among them. */
  get watched(): number {
    return this.#watchers.size;
  }
}

/** Whether two small plain values say the same. */
export function same(one: unknown, other: unknown): boolean {
  return Object.is(one, other) || JSON.stringify(one) === JSON.stringify(other);
}
