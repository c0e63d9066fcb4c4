import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { basename, join } from "node:path";

import type { Metafile, Plugin } from "esbuild";
import { parse } from "smol-toml";
import { z } from "zod";

import { inProject } from "../project.ts";
import { Refusal } from "../refusal.ts";

/** The fields of wrangler.toml that determine the bundle. */
const Options = z.object({
  main: z.string(),
  keep_names: z.boolean(),
  alias: z.record(z.string(), z.string()),
});

/**
 * Bundles the Worker into a directory as Wrangler does for `wrangler deploy --minify`, byte for
 * byte and without a source map, in a quarter of its processor time:
 * test/scripts/build/bundle.test.ts compares both.
 *
 * @param dist Resolves when the modules in dist, which the Worker imports, are built. All others
 *   are read before.
 * @returns What the bundle consists of.
 * @throws Refusal with the bundler's messages.
 */
export async function bundleWorker(directory: string, dist: Promise<unknown>): Promise<Metafile> {
  // Loaded only for a build.
  const { build } = await import("esbuild");
  const toml = parse(await readFile(inProject("wrangler.toml"), "utf8"));
  const { main, keep_names: keepNames, alias } = Options.parse(toml);
  const { metafile } = await build({
    absWorkingDir: inProject(""),
    entryPoints: [main],
    outdir: directory,
    bundle: true,
    minify: true,
    keepNames,
    metafile: true,
    format: "esm",
    target: "es2024",
    supported: { "import-source": true, using: true },
    conditions: ["workerd", "worker", "browser"],
    loader: { ".js": "jsx", ".mjs": "jsx", ".cjs": "jsx" },
    define: {
      "navigator.userAgent": '"Cloudflare-Workers"',
      "process.env.NODE_ENV": '"production"',
      "global.process.env.NODE_ENV": '"production"',
      "globalThis.process.env.NODE_ENV": '"production"',
    },
    plugins: [waitFor(dist), replace(alias), provideBuiltins, copyWasm(directory)],
    logLevel: "silent",
  }).catch((error: Error) => {
    throw new Refusal(`the Worker does not build:\n${error.message}`);
  });
  return metafile;
}

/** Resolves imports of dist only once it is built. */
const waitFor = (dist: Promise<unknown>): Plugin => ({
  name: "dist",
  setup: (build) => {
    build.onResolve({ filter: /^(?:\.\.\/)+dist\// }, async () => {
      await dist;
      return undefined;
    });
  },
});

/** Replaces modules by the paths of their imports: esbuild's own aliases are packages. */
const replace = (alias: Record<string, string>): Plugin => ({
  name: "alias",
  setup: (build) => {
    for (const [path, replacement] of Object.entries(alias)) {
      const filter = new RegExp(`^${path.replaceAll(".", "\\.")}$`);
      build.onResolve({ filter }, () => ({ path: inProject(replacement) }));
    }
  },
});

/** Leaves the modules of the runtime where they are; `require` of one becomes an import. */
const provideBuiltins: Plugin = {
  name: "builtins",
  setup: (build) => {
    build.onResolve({ filter: /^[a-z_]+(?:[:/][a-z_/]+)?$/ }, ({ path, kind }) => {
      if (!path.startsWith("cloudflare:") && !isBuiltin(path)) return undefined;
      return kind === "require-call" ? { path, namespace: "builtin" } : { path, external: true };
    });
    build.onLoad({ filter: /^/, namespace: "builtin" }, ({ path }) => ({
      contents: `import libDefault from '${path}';\nmodule.exports = libDefault;`,
    }));
  },
};

/** Copies WebAssembly beside the bundle, each file under a name that its content determines. */
const copyWasm = (directory: string): Plugin => ({
  name: "wasm",
  setup: (build) => {
    build.onResolve({ filter: /\.wasm$/ }, async ({ path, pluginData, ...options }) => {
      if (pluginData === RESOLVING) return undefined;
      const resolved = await build.resolve(path, { ...options, pluginData: RESOLVING });
      if (resolved.errors.length > 0) return { errors: resolved.errors };
      const bytes = await readFile(resolved.path);
      const digest = createHash("sha1").update(bytes).digest("hex");
      const name = `${digest}-${basename(resolved.path)}`;
      await writeFile(join(directory, name), bytes);
      return { path: `./${name}`, external: true };
    });
  },
});

const RESOLVING = Symbol("resolving");
