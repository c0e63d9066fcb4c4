import { inProject } from "../../project.ts";

/** The plugin's name, and that of its type of bindings. */
export const PLUGIN = "local-bucket";
export const TYPE = "local-r2";

/**
 * Bindings to local buckets, for Miniflare's option `unsafeBindings`. Plugin.ts provides them.
 *
 * @param buckets The names of the buckets, by binding.
 */
export const localBuckets = (buckets: Readonly<Record<string, string>>) =>
  Object.entries(buckets).map(([name, bucket]) => ({
    name,
    type: TYPE,
    plugin: { package: inProject("scripts/serve/bucket/plugin.ts"), name: PLUGIN },
    options: { bucket },
  }));
