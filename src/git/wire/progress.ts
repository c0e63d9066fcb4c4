/** Minimum time between two updates of a meter, in milliseconds. */
const INTERVAL_MS = 500;

/**
 * A progress counter as git shows it: a line that is overwritten until the work is done.
 *
 * @see git's progress.c, for the wording.
 */
export class ProgressMeter {
  private readonly title: string;
  private readonly total: number;
  private readonly write: (text: string) => void;
  private readonly now: () => number;
  private writtenAt: number;
  private writtenPercent = -1;

  constructor(title: string, total: number, write: (text: string) => void, now = Date.now) {
    this.title = title;
    this.total = total;
    this.write = write;
    this.now = now;
    this.writtenAt = now();
  }

  /**
   * Writes a line if the percentage has changed and the last line is at least `INTERVAL_MS` old.
   */
  update(done: number): void {
    const percent = Math.floor((done * 100) / this.total);
    if (percent === this.writtenPercent) return;
    const now = this.now();
    if (now - this.writtenAt < INTERVAL_MS) return;
    this.writtenAt = now;
    this.writtenPercent = percent;
    this.write(`${this.line(done)}\r`);
  }

  /** Writes the last line. @param words Text after the numbers. */
  finish(words = "done."): void {
    this.write(`${this.line(this.total)}, ${words}\n`);
  }

  private line(done: number): string {
    const percent = this.total === 0 ? 100 : Math.floor((done * 100) / this.total);
    return `${this.title}: ${String(percent).padStart(3)}% (${done}/${this.total})`;
  }
}
