import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { Refusal } from "../../scripts/refusal.ts";
import { startPeerProcess, type PeerProcess } from "../support/peer-process.ts";
import type { Options } from "./options.ts";

export type Gitea = PeerProcess & {
  /** As the program states it. */
  version: string;
  administrator: { name: string; password: string };
  /** Starts it again on the same state, once it is closed. */
  start: () => Promise<PeerProcess>;
};

const NAME = "bench-admin";

/**
 * Starts Gitea with SQLite and its state in `directory`, and creates an administrator by its
 * command line.
 *
 * @throws Refusal if the program can't be run.
 */
export async function openGitea(
  directory: string,
  { gitea, giteaStatic }: Pick<Options, "gitea" | "giteaStatic">,
): Promise<Gitea> {
  mkdirSync(directory, { recursive: true });
  const configuration = join(directory, "app.ini");
  const write = (port: number): void =>
    writeFileSync(configuration, configurationOf(directory, port, giteaStatic), { mode: 0o600 });
  const env = { GITEA_WORK_DIR: directory, HOME: directory };
  const run = async (...args: string[]): Promise<string> => {
    try {
      const options = { env: { ...process.env, ...env }, cwd: directory };
      return (await promisify(execFile)(gitea, [...args, "--config", configuration], options))
        .stdout;
    } catch (error) {
      throw new Refusal(`Gitea's program does not run: ${String(error)}`);
    }
  };
  // The tables and the administrator need no port.
  write(0);
  const password = randomBytes(18).toString("base64url");
  await run("migrate");
  const account = ["--username", NAME, "--password", password, "--email", `${NAME}@example.com`];
  await run("admin", "user", "create", "--admin", "--must-change-password=false", ...account);
  const version = /\d+\.\d+\S*/.exec(await run("--version"))?.[0] ?? "";
  const start = (): Promise<PeerProcess> =>
    startPeerProcess({
      program: gitea,
      args: (port) => {
        write(port);
        return ["web", "--config", configuration];
      },
      env,
      readyPath: "/api/v1/version",
    });
  return { ...(await start()), version, administrator: { name: NAME, password }, start };
}

/**
 * Only what must differ from its defaults; its log is smaller than by default, which favours it.
 */
const configurationOf = (directory: string, port: number, files: string | undefined): string => `
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = ${userInfo().uid === 0}
RUN_MODE = prod
RUN_USER = ${userInfo().username}
WORK_PATH = ${directory}

[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = http://127.0.0.1:${port}/
${files === undefined ? "" : `STATIC_ROOT_PATH = ${files}`}
DISABLE_SSH = true
OFFLINE_MODE = true

[database]
DB_TYPE = sqlite3
PATH = ${join(directory, "gitea.db")}

[repository]
ROOT = ${join(directory, "repositories")}

[security]
INSTALL_LOCK = true
SECRET_KEY = ${SECRETS.key}
INTERNAL_TOKEN = ${SECRETS.token}

[oauth2]
JWT_SECRET = ${SECRETS.jwt}

[log]
MODE = console
LEVEL = error

[service]
DISABLE_REGISTRATION = true
`;

/** Of one run: the same in both versions of the configuration, which differ in the port. */
const SECRETS = {
  key: randomBytes(32).toString("hex"),
  token: randomBytes(32).toString("hex"),
  jwt: randomBytes(32).toString("base64url"),
};
