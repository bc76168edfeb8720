/** A value that notifies its watchers when it changes. */

export class Signal<T> {
  #value: T;
  readonly #watchers = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  /** Set a new value; nobody is notified if it is equal to the old one. */
  set(value: T): void {
    if (isEqual(value, this.#value)) return;
    this.#value = value;
    this.notify();
  }

  /** Notify all watchers, even if the value has not changed. */
  notify(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  /** Call the watcher on every change until the signal is aborted. */
  watch(watcher: () => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#watchers.add(watcher);
    signal.addEventListener("abort", () => this.#watchers.delete(watcher), { once: true });
  }

  /** The number of watchers; a removed view must not be among them. */
  get watcherCount(): number {
    return this.#watchers.size;
  }
}

/** Whether two small plain values are equal. */
export function isEqual(one: unknown, other: unknown): boolean {
  return Object.is(one, other) || JSON.stringify(one) === JSON.stringify(other);
}
