import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";

import { Refusal } from "../refusal.ts";

/**
 * Checks that the service can listen, before any other step of the start.
 *
 * @throws Refusal with the process that uses the port, if known, or with the reason why it cannot
 *   be used.
 */
export async function refuseTakenPort(host: string, port: number): Promise<void> {
  const { code } = await tryListen(host, port);
  if (code === undefined) return;
  if (code !== "EADDRINUSE") {
    throw new Refusal(`cannot listen on ${host}, port ${port}: ${code}`);
  }
  const pid = findListener(port);
  const holder = pid === undefined ? "another process" : describe(pid);
  throw new Refusal(
    `port ${port} on ${host} is taken by ${holder}: stop it, or set EDGEFORGE_PORT`,
  );
}

/** A port that is free now; another process may take it before the caller does. */
export async function findFreePort(host: string): Promise<number> {
  const { port, code } = await tryListen(host, 0);
  if (port === undefined) throw new Refusal(`cannot listen on ${host}: ${code}`);
  return port;
}

/**
 * Opens a socket that listens on a port which other processes of this user may share: the system
 * spreads connections over all of them.
 *
 * A process that inherits `fd` accepts the connections. `close` must be called before the next turn
 * of the event loop, in which this process would.
 */
export async function openShared(
  host: string,
  port: number,
): Promise<{ fd: number; close: () => void }> {
  const server = createServer();
  const listening = once(server, "listening");
  server.listen({ host, port, reusePort: true });
  await listening;
  // Node has no public name for it.
  const { _handle: handle } = server as unknown as { _handle: { fd: number } };
  return { fd: handle.fd, close: () => void server.close() };
}

/** Listens for a moment. */
function tryListen(host: string, port: number): Promise<{ port?: number; code?: string }> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", ({ code, message }: NodeJS.ErrnoException) =>
      resolve({ code: code ?? message }),
    );
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === "object" && address ? { port: address.port } : {};
      server.close(() => resolve(bound));
    });
  });
}

function describe(pid: number): string {
  try {
    const command = execFileSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" });
    // Only the program: arguments may be secret, and ps's `comm` of a Node process is a thread
    // name.
    const program = command.trim().split(/\s/)[0]?.split("/").at(-1);
    return program ? `${program} (process ${pid})` : `process ${pid}`;
  } catch {
    return `process ${pid}`; // small images have no ps
  }
}

/** The process that listens on a TCP port; undefined if it is not visible. */
function findListener(port: number): number | undefined {
  try {
    return process.platform === "linux" ? findInProc(port) : findWithLsof(port);
  } catch {
    return undefined; // processes of other users may be invisible
  }
}

function findWithLsof(port: number): number | undefined {
  const args = ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-t"];
  const pid = Number.parseInt(execFileSync("lsof", args, { encoding: "utf8" }), 10);
  return Number.isNaN(pid) ? undefined : pid;
}

/** @see proc_net(5): the fields are local address, state (0A listens) and inode. */
function findInProc(port: number): number | undefined {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const listeners = ["/proc/net/tcp", "/proc/net/tcp6"]
    .flatMap((table) => readFileSync(table, "utf8").split("\n").slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(suffix) && fields[3] === "0A");
  const sockets = new Set(listeners.map((fields) => `socket:[${fields[9]}]`));

  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const pid = pids.find((id) => openFiles(id).some((file) => sockets.has(file)));
  return pid === undefined ? undefined : Number(pid);
}

function openFiles(pid: string): string[] {
  try {
    const directory = `/proc/${pid}/fd`;
    return readdirSync(directory).map((fd) => readlinkSync(`${directory}/${fd}`));
  } catch {
    return []; // ended in the meantime, or owned by another user
  }
}
