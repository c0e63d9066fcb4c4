import { parseYaml } from "../../../lib/yaml.ts";

/** Maximum characters of a step's name. */
const NAME_MAX = 255;

/**
 * The names of the steps of a job, as people see them: a step without a name has that of its action
 * or the first line of what it runs.
 *
 * @param payload The workflow file of one job that its runner gets.
 */
export async function readStepNames(payload: string): Promise<string[]> {
  const [document] = await parseYaml(payload, "core");
  const { jobs } = (document?.toJS() ?? {}) as { jobs?: Record<string, { steps?: unknown }> };
  const [job] = Object.values(jobs ?? {});
  const steps = Array.isArray(job?.steps) ? (job.steps as readonly unknown[]) : [];
  return steps.map((step) => nameOf((step ?? {}) as Step).slice(0, NAME_MAX));
}

interface Step {
  readonly name?: unknown;
  readonly uses?: unknown;
  readonly run?: unknown;
  readonly id?: unknown;
}

function nameOf({ name, uses, run, id }: Step): string {
  if (isText(name)) return name;
  if (isText(uses)) return `Run ${uses}`;
  if (isText(run)) return `Run ${run.trim().split("\n", 1)[0] ?? ""}`;
  return isText(id) ? id : "Run";
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
