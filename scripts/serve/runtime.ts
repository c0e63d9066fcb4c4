import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { inProject } from "../project.ts";
import { callControl } from "./control/client.ts";
import { ControlledDatabase } from "./control/database.ts";
import { reportDiskSpace } from "./disk-space.ts";
import { KEEPER, WRITES } from "./keeper/protocol.ts";
import { passOnWrites } from "./keeper/writes.ts";
import { formatListenUrls } from "./listen-urls.ts";
import { receiveMails } from "./mail-files.ts";
import type { Database } from "./migrate.ts";
import { findFreePort, openShared } from "./port.ts";
import {
  CONTROL_SOCKET,
  HOST_SERVICES,
  PUBLIC_SOCKET,
  type Role,
  type RuntimeFiles,
  runtimeDirectory,
} from "./runtime-files.ts";
import type { Setup } from "./setup.ts";
import type { WorkerDescription } from "./worker.ts";
import { INHERITED_FD, type LogLine, spawnWorkerd, supervise, type Supervised } from "./workerd.ts";

/** Functions rather than methods, so that callers can pass them on. */
export type Runtime = {
  /**
   * Starts workerd without the public socket: a request before the migrations would use an older
   * schema.
   */
  startPrivately: () => Promise<void>;
  /**
   * Starts workerd with the public socket, in place of the private one, and tells the Worker its
   * address.
   */
  listen: (host: string, port: number) => Promise<URL>;
  database: Database;
  /** The Worker's entrypoint for the start, which no public socket exposes. */
  setup: Setup;
  fire: (cron: string, at: Date) => Promise<unknown>;
  /**
   * Finishes the requests in progress, within ten seconds, then stops.
   *
   * @returns Whether all were finished.
   */
  close: () => Promise<boolean>;
};

type RuntimeOptions = {
  /** How many processes answer requests. */
  processes: number;
  /** Called with the process id of each workerd that has databases and objects. */
  onSpawn: (pid: number) => void;
  /**
   * Called with each log line of the Worker. Without it, workerd writes to the streams of this
   * process.
   */
  onLog?: ((line: LogLine) => void) | undefined;
};

/** The socket of a workerd that is not public. */
const PRIVATE = "private";

/** The longest path of a socket that all systems take. */
const SOCKET_PATH_MAX = 100;

/**
 * Prepares to run the built Worker in workerd. The files of `buildRuntime` must be there.
 *
 * With one process, that is one workerd. With more, that workerd is the keeper, which has databases
 * and objects and runs jobs, and as many entry processes answer requests beside it.
 *
 * @param data Directory for the state of all bindings.
 */
export async function openRuntime(
  worker: WorkerDescription,
  data: string,
  { processes, onSpawn, onLog }: RuntimeOptions,
): Promise<Runtime> {
  const files = inProject(runtimeDirectory(worker));
  const { directories, entry } = readFiles(files);
  const isDivided = processes > 1;
  const sockets = makeSocketDirectory();
  const pathOf = (name: string): string => join(sockets, name);
  const hostServices = {
    [HOST_SERVICES.MAIL_FILES]: await receiveMails(pathOf("mail"), data),
    [HOST_SERVICES.DISK_SPACE]: await reportDiskSpace(pathOf("disk"), data),
  };
  /** The sockets at which entry processes learn of writes. */
  const listeners: string[] = [];
  const writes = isDivided ? await passOnWrites(pathOf(WRITES), () => listeners) : undefined;
  let running: Supervised | undefined;
  let entries: Supervised[] = [];

  const argsOf = (role: Role, names: readonly string[]): string[] => [
    "--binary",
    "--experimental",
    ...Object.entries(hostServices).map(
      ([name, { path }]) => `--external-addr=${name}=unix:${path}`,
    ),
    ...names.map((name) => `--directory-path=${name}=${join(data, directories[name] ?? "")}`),
    join(files, `${role}.bin`),
  ];
  const envOf = (vars: WorkerDescription["vars"]): NodeJS.ProcessEnv => ({
    ...process.env,
    TZ: "UTC",
    ...textOf(vars, worker.variables),
  });

  /** Starts the workerd that has databases and objects. */
  const start = async (publicAddress: string, vars: WorkerDescription["vars"]): Promise<void> => {
    const own = isDivided ? [CONTROL_SOCKET, KEEPER] : [CONTROL_SOCKET];
    const names = Object.keys(directories);
    for (const name of names) mkdirSync(join(data, directories[name] ?? ""), { recursive: true });
    const args = [
      `--socket-addr=${PUBLIC_SOCKET}=${publicAddress}`,
      ...own.map((name) => `--socket-addr=${name}=unix:${pathOf(name)}`),
      ...(writes ? [`--external-addr=${WRITES}=unix:${writes.path}`] : []),
      ...argsOf(isDivided ? "keeper" : "single", names),
    ];
    running = await supervise("workerd", () => {
      for (const name of [...own, PRIVATE]) rmSync(pathOf(name), { force: true });
      return spawnWorkerd({
        args,
        env: envOf(vars),
        sockets: [PUBLIC_SOCKET, ...own],
        onSpawn,
        onLog,
      });
    });
  };
  /** Starts an entry process, which listens on the same port as the others. */
  const startEntry = (
    number: number,
    host: string,
    port: number,
    vars: WorkerDescription["vars"],
  ): Promise<Supervised> => {
    const listener = pathOf(`${WRITES}-${number}`);
    listeners.push(listener);
    const args = [
      `--socket-addr=${WRITES}=unix:${listener}`,
      `--socket-fd=${PUBLIC_SOCKET}=${INHERITED_FD}`,
      ...entry.externals.map((name) => `--external-addr=${name}=unix:${pathOf(KEEPER)}`),
      ...argsOf("entry", entry.directories),
    ];
    return supervise("an entry process", async () => {
      rmSync(listener, { force: true });
      const shared = await openShared(host, port);
      const spawned = spawnWorkerd({
        args,
        env: envOf(vars),
        sockets: [PUBLIC_SOCKET, WRITES],
        inherited: shared.fd,
        onSpawn: () => {},
        onLog,
      });
      shared.close();
      return spawned;
    });
  };
  const stop = async (): Promise<boolean> => {
    const answering = await Promise.all(entries.map((each) => each.stop()));
    entries = [];
    const isFinished = (await running?.stop()) ?? true;
    running = undefined;
    return isFinished && answering.every(Boolean);
  };
  const privateAddress = `unix:${pathOf(PRIVATE)}`;
  const call = callControl(pathOf(CONTROL_SOCKET));

  return {
    startPrivately: () => start(privateAddress, worker.vars),
    listen: async (host, port) => {
      const bound = port === 0 ? await findFreePort(host) : port;
      await stop();
      const address = host.includes(":") ? `[${host}]:${bound}` : `${host}:${bound}`;
      const listenUrls = formatListenUrls(host, bound, worker.vars);
      const vars = { ...worker.vars, LISTEN_URLS: listenUrls };
      await start(isDivided ? privateAddress : address, vars);
      const count = isDivided ? processes : 0;
      const starting = Array.from({ length: count }, (_, at) => startEntry(at, host, bound, vars));
      entries = await Promise.all(starting);
      return new URL(`http://${address}`);
    },
    database: new ControlledDatabase(call),
    setup: {
      createFirstAdministrator: (account) =>
        call({ kind: "setup", method: "createFirstAdministrator", args: [account] }) as ReturnType<
          Setup["createFirstAdministrator"]
        >,
      releaseLeases: async () => {
        await call({ kind: "setup", method: "releaseLeases", args: [] });
      },
    },
    fire: (cron, at) => call({ kind: "scheduled", cron, at: at.getTime() }),
    close: async () => {
      const isFinished = await stop();
      for (const service of [...Object.values(hostServices), writes]) service?.close();
      rmSync(sockets, { recursive: true, force: true });
      return isFinished;
    },
  };
}

/** A directory that this user alone can enter, for sockets, whose paths must be short. */
function makeSocketDirectory(): string {
  const made = mkdtempSync(join(tmpdir(), "edgeforge-"));
  if (join(made, "control").length <= SOCKET_PATH_MAX) return made;
  rmSync(made, { recursive: true });
  return mkdtempSync("/tmp/edgeforge-");
}

function readFiles(files: string): RuntimeFiles {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- buildRuntime writes it.
  return JSON.parse(readFileSync(join(files, "files.json"), "utf8")) as RuntimeFiles;
}

/**
 * Variables as an environment has them. One without a value is empty, which the Worker takes for
 * its default.
 */
const textOf = (vars: WorkerDescription["vars"], names: string[]): Record<string, string> =>
  Object.fromEntries(
    names.map((name) => {
      const value = vars[name] ?? "";
      return [name, typeof value === "string" ? value : JSON.stringify(value)];
    }),
  );
