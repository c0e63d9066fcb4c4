/** Why a workflow file, or an expression in one, can't be used; its message is for its author. */
export class WorkflowError extends Error {
  /** Where in the text, in characters; undefined for the whole. */
  readonly offset: number | undefined;

  constructor(message: string, offset?: number) {
    super(message);
    this.name = "WorkflowError";
    this.offset = offset;
  }
}
