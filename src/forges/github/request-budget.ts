/** How many requests reading a page of items may take, besides that for the list itself. */
const REQUESTS_MAX = 28;

/** Counts the requests for parts of items, so that a page of items fits into a step of a job. */
export class RequestBudget {
  private count = 0;

  spend(count: number): void {
    this.count += count;
  }

  /**
   * Whether something that takes `count` requests is read now. The first thing always is, so that
   * each page goes on by at least one item: what one item takes is bounded by itself.
   */
  allows(count: number): boolean {
    return this.isUnspent || count <= this.left;
  }

  /** How many more requests fit. */
  get left(): number {
    return Math.max(0, REQUESTS_MAX - this.count);
  }

  get isUnspent(): boolean {
    return this.count === 0;
  }
}
