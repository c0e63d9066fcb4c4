const SKIPPING = /\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]/i;

/** Whether a commit's message, or a pull request's title, asks for no runs. */
export function isSkipped(message: string): boolean {
  return SKIPPING.test(message);
}
