const CAPACITY = 1024;

/** Events in the order of their times; of equal times, in the order in which they were added. */
export class EventHeap {
  #times = new Float64Array(CAPACITY);
  #orders = new Float64Array(CAPACITY);
  #values = new Int32Array(CAPACITY);
  #size = 0;
  #added = 0;

  get size(): number {
    return this.#size;
  }

  /** The time of the first event; infinite without one. */
  get nextTime(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : (this.#times[0] ?? 0);
  }

  /** @param value A number of 32 bits that names the event. */
  push(time: number, value: number): void {
    if (this.#size === this.#times.length) this.#grow();
    let at = this.#size++;
    const order = this.#added++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(time, order, parent)) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#set(at, time, order, value);
  }

  /** Removes the first event. @returns Its value. @throws Error if there is none. */
  pop(): number {
    if (this.#size === 0) throw new Error("no event is left");
    const first = this.#values[0] ?? 0;
    const last = --this.#size;
    if (last > 0)
      this.#sink(this.#times[last] ?? 0, this.#orders[last] ?? 0, this.#values[last] ?? 0);
    return first;
  }

  #sink(time: number, order: number, value: number): void {
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#size) break;
      const right = child + 1;
      if (
        right < this.#size &&
        this.#isBefore(this.#times[right] ?? 0, this.#orders[right] ?? 0, child)
      )
        child = right;
      if (this.#isBefore(time, order, child)) break;
      this.#move(child, at);
      at = child;
    }
    this.#set(at, time, order, value);
  }

  #isBefore(time: number, order: number, other: number): boolean {
    const otherTime = this.#times[other] ?? 0;
    return time < otherTime || (time === otherTime && order < (this.#orders[other] ?? 0));
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#times[from] ?? 0, this.#orders[from] ?? 0, this.#values[from] ?? 0);
  }

  #set(at: number, time: number, order: number, value: number): void {
    this.#times[at] = time;
    this.#orders[at] = order;
    this.#values[at] = value;
  }

  #grow(): void {
    const [times, orders, values] = [this.#times, this.#orders, this.#values];
    const capacity = 2 * times.length;
    this.#times = new Float64Array(capacity);
    this.#orders = new Float64Array(capacity);
    this.#values = new Int32Array(capacity);
    this.#times.set(times);
    this.#orders.set(orders);
    this.#values.set(values);
  }
}
