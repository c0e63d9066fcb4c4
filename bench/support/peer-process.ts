import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";

import type { Server } from "./service.ts";

/** Another service to compare with, which is installed already. */
export type PeerProgram = {
  program: string;
  /** The arguments for the port it listens at. */
  args: (port: number) => string[];
  /** By default that of this process. */
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  /** A path that it answers when it is ready. */
  readyPath: string;
};

export type PeerProcess = Server & { pid: () => number };

const READY_WAIT_MS = 240_000;

/** Starts another service on a free port of the loopback interface. */
export async function startPeerProcess({
  program,
  args,
  cwd,
  env,
  readyPath,
}: PeerProgram): Promise<PeerProcess> {
  const port = await findPort();
  const origin = new URL(`http://127.0.0.1:${port}`);
  const child = spawn(program, args(port), {
    cwd,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...env },
  });
  const close = async (): Promise<void> => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  };
  try {
    await waitUntilReady(new URL(readyPath, origin));
  } catch (error) {
    await close();
    throw error;
  }
  return { origin, pid: () => child.pid ?? 0, close };
}

/** A port that was free a moment ago. */
async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || !address) throw new Error("there is no free port");
  return address.port;
}

async function waitUntilReady(url: URL): Promise<void> {
  for (const end = Date.now() + READY_WAIT_MS; Date.now() < end;) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`the other service does not answer ${url.href}`);
}
