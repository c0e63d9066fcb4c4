/** The number of requests that a fake forge answers until a test begins another window. */
export class RateWindow {
  private left = Number.POSITIVE_INFINITY;

  /** Begins a window. @param size Undefined for no limit. */
  begin(size: number | undefined): void {
    this.left = size ?? Number.POSITIVE_INFINITY;
  }

  /** Whether a further request is answered. */
  admits(): boolean {
    if (this.left <= 0) return false;
    this.left--;
    return true;
  }
}

/** How long the windows of stand-ins are, in seconds, as they say when none is left. */
export const WINDOW_SECONDS = 5 * 3600;
