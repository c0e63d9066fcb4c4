import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import { reasonOf, Refusal } from "../refusal.ts";
import { isRunning, identityOf, ProcessIdentity } from "./process.ts";

/** The processes that use a data directory: the service, and the runtime that it started. */
const Holder = z.object({ service: ProcessIdentity, runtime: ProcessIdentity.optional() });
type Holder = z.infer<typeof Holder>;

export type Lock = {
  /** Records the runtime, which keeps running if the service is killed. */
  setRuntime(pid: number): void;
  release(): void;
};

/**
 * How long the runtime of a killed service takes to end: it finishes its requests, for ten seconds
 * at most.
 */
const RUNTIME_END_MS = 15_000;

/**
 * Locks the data directory for this process; creates the directory if it does not exist, and makes
 * it accessible for its owner only.
 *
 * A lock of a killed service is taken over once its runtime has ended, which it does by itself.
 *
 * @throws Refusal if another service still uses it, or the runtime of a killed one does not end.
 */
export async function takeLock(data: string, waitMs = RUNTIME_END_MS): Promise<Lock> {
  const path = join(data, "lock");
  const service = identityOf(process.pid);
  if (!service) throw new Error("this process cannot be found in the list of processes");

  try {
    mkdirSync(data, { recursive: true, mode: 0o700 });
    restrictToOwner(data);
    if (!create(path, { service })) {
      await refuseIfHeld(data, readHolder(path), waitMs);
      discard(path);
      if (!create(path, { service })) throw new Refusal(`another service is starting on ${data}`);
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(`cannot write to the data directory ${data}: ${reasonOf(error)}`);
  }

  return {
    setRuntime: (pid) => write(path, { service, runtime: identityOf(pid) }),
    release: () => rmSync(path, { force: true }),
  };
}

/**
 * SECURITY: the state holds private repositories, hashes and keys. An earlier version, or the tool
 * that restored a backup, may have made it readable for other users of the machine.
 */
function restrictToOwner(data: string): void {
  if ((statSync(data).mode & 0o077) === 0) return;
  try {
    chmodSync(data, 0o700);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) throw error;
    // A mounted volume may belong to another user, who decides.
    console.error(
      `other users of this machine may read ${data}, whose rights only its owner can change`,
    );
  }
}

async function refuseIfHeld(
  data: string,
  holder: Holder | undefined,
  waitMs: number,
): Promise<void> {
  if (!holder) return;
  const { service, runtime } = holder;
  if (isRunning(service)) {
    throw new Refusal(`Edgeforge is already running on ${data} (process ${service.pid})`);
  }
  if (!runtime) return;
  const until = Date.now() + waitMs;
  while (isRunning(runtime)) {
    if (Date.now() < until) {
      await pause(100);
      continue;
    }
    throw new Refusal(
      `an earlier service on ${data} was killed and its runtime still runs (workerd, process ${runtime.pid}): ` +
        `stop it with "kill ${runtime.pid}", then start again`,
    );
  }
}

/**
 * @returns false if the lock exists. A link appears with its complete content, so no reader sees a
 * partial lock.
 */
function create(path: string, holder: Holder): boolean {
  const draft = writeDraft(path, holder);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function write(path: string, holder: Holder): void {
  renameSync(writeDraft(path, holder), path);
}

function writeDraft(path: string, holder: Holder): string {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(holder)}\n`);
  return draft;
}

/** Removes a lock by renaming it first: of two services that find it stale, one succeeds. */
function discard(path: string): void {
  const aside = `${path}.stale-${process.pid}`;
  renameSync(path, aside);
  rmSync(aside);
}

function readHolder(path: string): Holder | undefined {
  try {
    return Holder.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined; // a damaged lock, for example after a full disk, has no holder
  }
}
