import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { inProject } from "../project.ts";
import { localDatabases } from "../serve/database/bindings.ts";
import {
  CONTROL_SOCKET,
  HOST_SERVICES,
  PUBLIC_SOCKET,
  type RuntimeFiles,
  runtimeDirectory,
} from "../serve/runtime-files.ts";
import type { WorkerDescription } from "../serve/worker.ts";
import { KEEPER } from "../serve/keeper/protocol.ts";
import {
  type Config,
  type ConfiguredWorker,
  isWorker,
  type Json,
  reachedServices,
  renameService,
  type Service,
  workerOf,
} from "./configuration.ts";
import { divide } from "./entry.ts";
import { buildLocalBindings, readLocalModule } from "./local-bindings.ts";
import { configuredModules } from "./modules.ts";
import { whenChanged } from "./when-changed.ts";

/** What decides about the configuration besides the description, which names the directory. */
const SOURCES = [
  "dist/assets.sources",
  "dist/local-bindings.sources",
  "scripts/build",
  "scripts/serve",
  "package-lock.json",
];

/**
 * Flags of V8, which let garbage be collected while there is little of it.
 *
 * By V8's own measure, each isolate may first fill hundreds of megabytes. There are about ten,
 * since each simulator of a binding has its own, and each response or stream in their garbage
 * holds memory that V8 does not count: after 6,000 requests the process held 870 MB, of which V8
 * counted 290 and the Worker used 15. A young generation of 1 MB would hold less still, for a
 * fifth more CPU time of a request.
 *
 * With an old generation of 4 MB at first instead of 1, and without `--optimize-for-size`, the
 * process held 13 % more after 3,400 steps of `npm run bench:soak`, for the same CPU time:
 * probably since the simulators allocate little, and so keep their garbage until V8 collects it
 * for the first time.
 */
const V8_FLAGS = [
  "--optimize-for-size",
  "--initial-old-space-size=1",
  "--heap-growing-percent=50",
  "--max-semi-space-size=2",
];

/** The configuration with which workerd runs a Worker, and where its state is. */
type Configuration = { config: Config; directories: Record<string, string> };

/**
 * Builds the configuration with which workerd runs the Worker, so that a start needs neither
 * Wrangler nor Miniflare. The Worker must be built.
 */
export async function buildRuntime(worker: WorkerDescription): Promise<void> {
  await buildConfiguration(worker);
  const base = configurationDirectory(worker);
  const sources = ["dist/worker.sources", `${base}.sources`];
  await whenChanged(runtimeDirectory(worker), sources, async (directory) => {
    const { serializeConfig } = await import("miniflare");
    const { config, directories } = await readConfiguration(inProject(`${base}/${FILE}`));
    const modules = await configuredModules();
    const { keeper, entry } = divide(config, worker.name, PUBLIC_SOCKET);
    for (const [role, each] of Object.entries({ single: config, keeper, entry })) {
      const complete = withModules(each, worker.name, modules);
      await writeFile(join(directory, `${role}.bin`), serializeConfig(complete));
    }
    const names = new Set(entry.services.map((each) => each.name));
    const files: RuntimeFiles = {
      directories,
      entry: {
        directories: Object.keys(directories).filter((each) => names.has(each)),
        externals: [...names].filter((each) => each === KEEPER || each.startsWith(`${KEEPER}:`)),
      },
    };
    await writeFile(join(directory, "files.json"), JSON.stringify(files));
  });
}

/**
 * Builds the same configuration without the Worker's modules, for which the Worker need not be
 * built yet.
 *
 * Miniflare makes it, and it is reduced to what serves: Miniflare's own Workers for development
 * go, variables come from the environment of workerd, and the state is where the command line
 * says.
 */
export async function buildConfiguration(worker: WorkerDescription): Promise<void> {
  await buildLocalBindings();
  await whenChanged(configurationDirectory(worker), SOURCES, async (directory) => {
    const state = join(directory, "state");
    const made = await configOf(worker, directory, state);
    await writeFile(join(directory, FILE), JSON.stringify(reduce(made, worker, state)));
    await rm(state, { recursive: true, force: true });
  });
}

const FILE = "configuration.json";

const configurationDirectory = (worker: WorkerDescription): string =>
  `${runtimeDirectory(worker)}.configuration`;

/**
 * The configuration that Miniflare makes. It starts a program that ends at once in place of
 * workerd, and so fails.
 */
async function configOf(
  worker: WorkerDescription,
  directory: string,
  state: string,
): Promise<Config> {
  const { Miniflare } = await import("miniflare");
  const { miniflareOptions } = await import("./miniflare.ts");
  const { name, variables, options } = worker;
  const program = join(directory, "workerd");
  const path = join(directory, "config.json");
  await mkdir(state);
  await writeFile(program, "#!/bin/sh\nexec cat >/dev/null\n");
  await chmod(program, 0o755);
  process.env["MINIFLARE_WORKERD_PATH"] = program;
  process.env["MINIFLARE_WORKERD_CONFIG_DEBUG"] = path;
  try {
    const service = {
      ...options,
      modules: true,
      script: "",
      name,
      bindings: Object.fromEntries(variables.map((variable) => [variable, variable])),
      serviceBindings: Object.fromEntries(
        Object.entries(HOST_SERVICES).map(([binding, socket]) => [
          binding,
          { external: { address: `unix:${socket}`, http: {} } },
        ]),
      ),
    };
    const control = {
      name: "control",
      modules: true,
      script: readLocalModule("control/worker"),
      compatibilityDate: "2026-10-20",
      compatibilityFlags: ["service_binding_extra_handlers"],
      unsafeBindings: localDatabases(["DB"]),
      serviceBindings: { SERVICE: name, SETUP: { name, entrypoint: "Setup" } },
    };
    const mf = new Miniflare(miniflareOptions(state, [service, control], () => {}));
    await mf.ready.catch(() => {});
    await mf.dispose().catch(() => {});
  } finally {
    delete process.env["MINIFLARE_WORKERD_PATH"];
    delete process.env["MINIFLARE_WORKERD_CONFIG_DEBUG"];
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is missing fails below, or in workerd.
  const config = JSON.parse(await readFile(path, "utf8")) as Config;
  await rm(path);
  await rm(program);
  return config;
}

async function readConfiguration(path: string): Promise<Configuration> {
  const { kVoid } = await import("miniflare");
  const text = await readFile(path, "utf8");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is missing fails in workerd.
  return JSON.parse(text, (key, value) => revive(key, value, kVoid)) as Configuration;
}

/** JSON has no bytes, which it shows by their places, and no symbols, which it leaves out. */
function revive(key: string, value: unknown, kVoid: symbol): unknown {
  if (key === "wasm" || key === "data") return Uint8Array.from(Object.values(value as object));
  if (key !== "durableObjectStorage") return value;
  return Object.keys(value as object).length === 0 ? { inMemory: kVoid } : value;
}

/** What a service that only logs for Miniflare calls. */
const SILENT: Service = {
  name: "loopback",
  worker: {
    compatibilityDate: "2026-10-20",
    modules: [
      {
        name: "silent.js",
        esModule: "export default { fetch: () => new Response(null, { status: 204 }) };",
      },
    ],
  },
};

function reduce(
  { services, extensions, autogates }: Config,
  { name, variables }: WorkerDescription,
  state: string,
): Configuration {
  const byName = new Map(services.map((service) => [service.name, service]));
  const [service, control] = [`core:user:${name}`, "core:user:control"];
  const hostServices = Object.entries(HOST_SERVICES).map(([binding, own]) => {
    const made = services.find((each) => each.name.endsWith(binding));
    if (!made) throw new Error(`the configuration has no service for ${binding}`);
    byName.set(made.name, { ...made, external: { http: {} } });
    return { made: made.name, own };
  });
  byName.set(SILENT.name, SILENT);

  const kept = reachedServices([...byName.values()], [service, control, "internet"]);
  const directories: Record<string, string> = {};
  for (const { name: disk, disk: settings } of kept) {
    const path = (settings as { path?: string } | undefined)?.path;
    if (path?.startsWith(state)) directories[disk] = path.slice(state.length + 1);
  }
  const names = new Set(variables);
  const worker = workerOf({ services }, name);
  worker.bindings = worker.bindings.map((binding) =>
    names.has(String(binding["name"]))
      ? { name: binding["name"], fromEnvironment: binding["name"] }
      : binding,
  );
  const sockets = [
    { name: PUBLIC_SOCKET, service: { name: service }, http: {} },
    { name: CONTROL_SOCKET, service: { name: control }, http: {} },
  ];
  const config = { services: kept, sockets, extensions, autogates, v8Flags: V8_FLAGS };
  const named = hostServices.reduce(
    (renamed, { made, own }) => renameService(renamed, made, own),
    config,
  );
  return { config: named, directories };
}

/**
 * The configuration with the modules of a Worker as its last part: Miniflare copies all that it has
 * serialized each time that it needs more memory.
 */
function withModules({ services, ...rest }: Config, name: string, modules: Json[]): Config {
  const service = services.find(isWorker(name));
  if (!service) throw new Error("the configuration has no Worker");
  const { modules: _, ...worker } = service["worker"] as ConfiguredWorker;
  const others = services.filter((each) => each !== service);
  return { ...rest, services: [...others, { ...service, worker: { ...worker, modules } }] };
}
