/**
 * Parses YAML.
 *
 * SECURITY: aliases are limited to 10, since nested aliases expand a small text exponentially.
 *
 * @throws Error with a message for the author of the text.
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
