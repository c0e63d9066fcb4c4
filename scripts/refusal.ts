/**
 * An error that the user can correct: it is shown as one line, without a stack trace.
 * Any other error in a script is a bug, and is shown with its trace.
 */
export class Refusal extends Error {}

/** Runs a script's main function and turns a {@link Refusal} into one line and exit code 1. */
export async function runScript(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

/** The first line of an error's message, for errors of tools whose message includes a trace. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split("\n")[0] ?? "";
}
