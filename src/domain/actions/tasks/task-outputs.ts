import type { Mask } from "./mask.ts";

type Outputs = Readonly<Record<string, string>>;

/** Maximum bytes of an output's name, and of all names and values of a job, as they are stored. */
const NAME_BYTES_MAX = 255;
const OUTPUTS_BYTES_MAX = 1024 * 1024;

const encoder = new TextEncoder();

/** The outputs of a task after a report, and why some of the reported ones are not among them. */
interface MergedOutputs {
  readonly outputs: Outputs;
  /** For the log of the task. */
  readonly warnings: readonly string[];
}

/**
 * Adds reported outputs to those of a task. The first value of a name stays.
 *
 * SECURITY: an output is shown to other jobs, where nothing masks it: one that holds a secret is
 * left out.
 */
export function mergeOutputs(stored: Outputs, reported: Outputs, mask: Mask): MergedOutputs {
  const outputs: Record<string, string> = { ...stored };
  const warnings: string[] = [];
  let bytes = sizeOf(outputs);
  for (const [name, value] of Object.entries(reported)) {
    if (Object.hasOwn(outputs, name)) continue;
    const shown = mask(name.slice(0, NAME_BYTES_MAX));
    const more = sizeOf({ [name]: value });
    if (mask(value) !== value || mask(name) !== name) {
      warnings.push(`The output '${shown}' is left out, since it may hold a secret.`);
    } else if (encoder.encode(name).length > NAME_BYTES_MAX || bytes + more > OUTPUTS_BYTES_MAX) {
      warnings.push(
        `The output '${shown}' is left out: names have at most ${NAME_BYTES_MAX} bytes, and the ` +
          `outputs of a job ${OUTPUTS_BYTES_MAX} bytes.`,
      );
    } else {
      Object.defineProperty(outputs, name, { value, enumerable: true });
      bytes += more;
    }
  }
  return { outputs, warnings };
}

const sizeOf = (outputs: Outputs): number => encoder.encode(JSON.stringify(outputs)).length;
