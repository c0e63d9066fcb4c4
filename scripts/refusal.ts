/**
 * What the person at the terminal can put right: shown as one line, without a stack trace.
 * Anything else thrown by a script is a bug and keeps its trace.
 */
export class Refusal extends Error {}

/** Runs a script's story and turns a {@link Refusal} into one line and exit code 1. */
export async function tell(story: () => Promise<void>): Promise<void> {
  try {
    await story();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

/** The first line of whatever was thrown: for messages of tools that go on with their trace. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split("\n")[0] ?? "";
}
