/**
 * A value that is written in YAML.
 *
 * SECURITY: an alias stands for a copy, so that a small text could grow without end: few are taken.
 *
 * @throws Error saying what is wrong with it, for whoever wrote it.
 */
export async function readYaml(text: string): Promise<unknown> {
  const { parse } = await import("yaml");
  return parse(text, {
    schema: "core",
    maxAliasCount: 10,
    logLevel: "error",
    prettyErrors: false,
  }) as unknown;
}
