/**
 * Progress messages from running work to the response stream.
 *
 * Work and stream run concurrently; messages are buffered until the stream takes them.
 */
export class ProgressChannel {
  private text = "";
  private wake = (): void => {};

  readonly report = (text: string): void => {
    this.text += text;
    this.wake();
  };

  /** Resolves when a message is buffered. */
  received(): Promise<undefined> {
    if (this.text !== "") return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.wake = () => resolve(undefined);
    });
  }

  /** Returns and clears the buffered messages. */
  take(): string {
    const { text } = this;
    this.text = "";
    return text;
  }
}
