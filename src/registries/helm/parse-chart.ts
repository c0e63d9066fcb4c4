import { z } from "zod";

import { malformed } from "../../lib/failure.ts";
import { readYaml } from "../../lib/yaml.ts";
import { requireChartKey } from "./names.ts";

/** Maximum bytes of a `Chart.yaml`. */
export const CHART_YAML_BYTES_MAX = 256 * 1024;
/** Aliases that are expanded in it. */
const ALIASES_MAX = 10;
/**
 * Maximum length of the key of an annotation: YAML has keys of at most 1024 characters without a
 * mark before them.
 */
const KEY_LENGTH_MAX = 512;

/** A text. Helm also takes a number or a boolean in its place. */
const Text = z
  .union([z.string(), z.number(), z.boolean()])
  .nullish()
  .transform((value) =>
    value === null || value === undefined ? undefined : String(value).toWellFormed(),
  );
/** One that is required. */
const RequiredText = z.union([z.string(), z.number()]).transform(String);
const Texts = z
  .array(Text)
  .nullish()
  .transform((list) => list?.flatMap((each) => (each === undefined ? [] : [each])));
const Flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? undefined);

const Maintainer = z.object({ name: Text, email: Text, url: Text });
const Dependency = z.object({
  name: Text,
  version: Text,
  repository: Text,
  condition: Text,
  tags: Texts,
  enabled: Flag,
  alias: Text,
});

/**
 * The fields of a `Chart.yaml` that Helm reads, with the types that Helm expects in an index: a
 * chart with another type would make the whole index unreadable. `import-values` of dependencies
 * are not part of what an index is read for.
 *
 * @see helm.sh/docs/topics/charts, "The Chart.yaml File".
 */
const Chart = z.object({
  apiVersion: z.enum(["v1", "v2"]),
  name: RequiredText,
  version: RequiredText,
  kubeVersion: Text,
  description: Text,
  type: Text,
  keywords: Texts,
  home: Text,
  sources: Texts,
  dependencies: z
    .array(Dependency)
    .nullish()
    .transform((list) => list ?? undefined),
  maintainers: z
    .array(Maintainer)
    .nullish()
    .transform((list) => list ?? undefined),
  icon: Text,
  appVersion: Text,
  deprecated: Flag,
  annotations: z
    .record(z.string().max(KEY_LENGTH_MAX), Text)
    .nullish()
    .transform((record) => record ?? undefined),
  condition: Text,
  tags: Text,
});
export type Chart = z.infer<typeof Chart>;

/** Parses the `Chart.yaml` of a chart. @throws Failure `malformed` */
export async function parseChart(bytes: Uint8Array): Promise<Chart> {
  const { data, error } = Chart.safeParse(await parseYaml(bytes));
  if (error) {
    throw malformed(`the Chart.yaml is invalid: ${error.issues[0]?.path.join(".") || "no object"}`);
  }
  if (data.type !== undefined && !["", "application", "library"].includes(data.type)) {
    throw malformed("the Chart.yaml is invalid: type");
  }
  requireChartKey(data);
  return data;
}

async function parseYaml(bytes: Uint8Array): Promise<unknown> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return await readYaml(text, "core", ALIASES_MAX);
  } catch {
    throw malformed("the Chart.yaml is no YAML");
  }
}
