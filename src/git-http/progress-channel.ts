/**
 * What a client is told while work goes on: said by the work, heard by whoever streams the answer.
 *
 * The two run side by side, and what is said when nobody listens waits.
 */
export class ProgressChannel {
  private text = "";
  private wake = (): void => {};

  readonly report = (text: string): void => {
    this.text += text;
    this.wake();
  };

  /** Resolves when something was said. */
  heard(): Promise<undefined> {
    if (this.text !== "") return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.wake = () => resolve(undefined);
    });
  }

  /** What was said since the last time. */
  take(): string {
    const { text } = this;
    this.text = "";
    return text;
  }
}
