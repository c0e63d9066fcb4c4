import { inProject } from "../../project.ts";

/** The plugin's name, and that of its type of bindings. */
export const PLUGIN = "local-database";
export const TYPE = "local-d1";

/** A binding of Miniflare that a plugin provides. */
type PluginBinding = {
  name: string;
  type: string;
  plugin: { package: string; name: string };
  options: Record<string, never>;
};

/**
 * Bindings to local databases, for Miniflare's option `unsafeBindings`. Plugin.ts provides them.
 */
export const localDatabases = (names: string[]): PluginBinding[] =>
  names.map((name) => ({
    name,
    type: TYPE,
    plugin: { package: inProject("scripts/serve/database/plugin.ts"), name: PLUGIN },
    options: {},
  }));
