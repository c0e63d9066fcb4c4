import { invalid } from "../../../lib/failure.ts";

/** What a runner says of itself. */
export interface RunnerDescription {
  readonly version: string;
  /** Names, without their arguments. */
  readonly labels: readonly string[];
  readonly capabilities: readonly string[];
}

/** Maximum characters of a name, a version, a label and a capability. */
const TEXT_MAX = 255;
/** Maximum labels, and maximum capabilities. */
const LIST_MAX = 100;

/**
 * Checks a description. Labels and capabilities that repeat are left out.
 *
 * @throws Failure `invalid` for what is too long or too much.
 */
export function readDescription<T extends Partial<RunnerDescription> & { name?: string }>(
  description: T,
): T {
  const { name = "", version = "", labels = [], capabilities = [] } = description;
  for (const [field, list] of Object.entries({ labels, capabilities })) {
    if (list.length > LIST_MAX) throw invalid(`${field}: a runner has at most ${LIST_MAX}`);
  }
  if ([name, version, ...labels, ...capabilities].some((text) => text.length > TEXT_MAX)) {
    throw invalid(`names, labels and versions have at most ${TEXT_MAX} characters`);
  }
  return {
    ...description,
    labels: [...new Set(labels)],
    capabilities: [...new Set(capabilities)],
  };
}
