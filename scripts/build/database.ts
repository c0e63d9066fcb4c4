import { inProject } from "../project.ts";
import { whenChanged } from "./when-changed.ts";

const SOURCES = "scripts/serve/database";

/** The directory into which {@link buildDatabase} writes. */
export const DATABASE_DIRECTORY = "dist/database";

/** Bundles the two modules of the local database that run in workerd. */
export async function buildDatabase(): Promise<void> {
  const sources = [SOURCES, "scripts/build/database.ts", "package-lock.json"];
  await whenChanged(DATABASE_DIRECTORY, sources, async (directory) => {
    // Loaded only for a build.
    const { build } = await import("esbuild");
    await build({
      entryPoints: ["binding", "object"].map((name) => inProject(`${SOURCES}/${name}.ts`)),
      outdir: directory,
      bundle: true,
      format: "esm",
      target: "es2024",
      external: ["cloudflare:workers"],
      logLevel: "silent",
    });
  });
}
