import { execFile, execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { describe, expect, it, onTestFinished } from "vitest";

import { inProject } from "../../scripts/project.ts";
import { type Service, startService } from "./support/service.ts";
import { makeDirectory } from "./support/temporary.ts";

const ROOT = { name: "root", password: "correct horse battery" };
const AUTHORIZATION = `Basic ${btoa(`${ROOT.name}:${ROOT.password}`)}`;

const DISK_BYTES = 96 * 1024 ** 2;
/** A file of more bytes than the health check and the parts of SQLite need. */
const LARGE_BYTES = 32 * 1024 ** 2;

/** A command before that of a program, which then sees a small disk of its own at a directory. */
const mountAt = (directory: string): [program: string, ...args: string[]] => [
  "unshare",
  "--mount",
  "--map-root-user",
  "sh",
  "-ec",
  `mount -t tmpfs -o size=${DISK_BYTES} tmpfs "$0"; exec "$@"`,
  directory,
];

/** Whether the system lets a user mount a disk for one process. */
function canMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), "edgeforge-"));
  const [program, ...args] = mountAt(directory);
  try {
    execFileSync(program, [...args, "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** A service whose state is on a small disk, which a file of the test fills. */
type SmallService = Service & { fill: () => void; empty: () => void };

async function start(): Promise<SmallService> {
  const data = makeDirectory();
  const env = {
    EDGEFORGE_DATA: data,
    EDGEFORGE_ADMIN_USER: ROOT.name,
    EDGEFORGE_ADMIN_PASSWORD: ROOT.password,
  };
  const service = await startService({ path: inProject(".") }, env, mountAt(data));
  onTestFinished(async () => void (await service.stop()));
  const ballast = join(`/proc/${service.pid}/root`, data, "ballast");
  return {
    ...service,
    fill: () => {
      for (const bytes of [1024 ** 2, 4096]) {
        const piece = Buffer.alloc(bytes);
        try {
          for (;;) appendFileSync(ballast, piece);
        } catch (error) {
          if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
        }
      }
    },
    empty: () => rmSync(ballast),
  };
}

function requestsOf({ url }: Service) {
  const send = async (method: string, path: string, body?: BodyInit) => {
    const headers = { Authorization: AUTHORIZATION };
    const init = { method, headers, ...(body !== undefined && { body }) };
    const response = await fetch(`${url}${path}`, init);
    return { status: response.status, body: await response.text() };
  };
  const json = (method: string, path: string, value: object) =>
    send(method, `/api/v1${path}`, new Blob([JSON.stringify(value)], { type: "application/json" }));
  return { send, json };
}

/** Runs git in a directory, and returns its exit code and what it printed. */
async function git(directory: string, ...args: string[]) {
  const identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_TERMINAL_PROMPT: "0" };
  return promisify(execFile)("git", [...identity, ...args], { cwd: directory, env }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code: Number(code), output: `${stdout}${stderr}` }),
  );
}

describe.skipIf(!canMount())("a full disk", () => {
  it("refuses writes with a reason, loses nothing, serves reads, and ends when there is space", async () => {
    const service = await start();
    const { send, json } = requestsOf(service);
    const remote = service.url.replace(
      "://",
      `://${ROOT.name}:${encodeURIComponent(ROOT.password)}@`,
    );
    const work = makeDirectory({ "tree/a.txt": "acknowledged\n" });
    const tree = join(work, "tree");
    const commit = async (name: string, bytes: number | string) => {
      writeFileSync(join(tree, name), typeof bytes === "string" ? bytes : noise(bytes));
      await git(tree, "add", ".");
      await git(tree, "commit", "-qm", name);
    };
    expect((await json("POST", "/user/repos", { name: "kept" })).status).toBe(201);
    expect((await json("POST", "/repos/root/kept/issues", { title: "a" })).status).toBe(201);
    await git(tree, "init", "-qb", "main");
    await commit("a.txt", "acknowledged\n");
    const push = () => git(tree, "push", `${remote}/root/kept.git`, "main");
    expect(await push()).toMatchObject({ code: 0 });
    const before = await git(tree, "rev-parse", "main");
    expect((await send("GET", "/api/healthz")).status).toBe(200);

    service.fill();

    expect(await send("GET", "/api/healthz")).toMatchObject({
      status: 503,
      body: expect.stringContaining('"disk:space":[{"status":"fail"'),
    });
    // Each kind of write: rows, a large body, a file in a database and bucket, objects of git.
    const refused = { status: 507, body: expect.stringContaining("no space left") };
    const large = noise(LARGE_BYTES);
    expect(
      await json("POST", "/user/repos", { name: "lost", description: "a".repeat(2000) }),
    ).toMatchObject(refused);
    expect(await send("PUT", "/api/packages/root/generic/lost/1/file", large)).toMatchObject(
      refused,
    );
    const file = {
      content: large.toString("base64").slice(0, 4_000_000),
      branch: "main",
      message: "lost",
    };
    expect(await json("POST", "/repos/root/kept/contents/lost.bin", file)).toMatchObject(refused);
    const form = new FormData();
    form.set("attachment", new Blob([large.subarray(0, 1_000_000)]), "lost.txt");
    expect(await send("POST", "/api/v1/repos/root/kept/issues/1/assets", form)).toMatchObject(
      refused,
    );
    await commit("lost.bin", LARGE_BYTES);
    const pushed = await push();
    expect(pushed.code).not.toBe(0);
    expect(pushed.output).toContain("no space left");

    const readers = async () => {
      const refs = await git(work, "ls-remote", `${remote}/root/kept.git`);
      expect(refs).toMatchObject({
        code: 0,
        output: expect.stringContaining(before.output.trim()),
      });
      const clone = join(work, `clone-${crypto.randomUUID()}`);
      mkdirSync(clone);
      expect(await git(clone, "clone", "-q", `${remote}/root/kept.git`, ".")).toMatchObject({
        code: 0,
      });
      expect(await git(clone, "fsck", "--full", "--strict")).toMatchObject({ code: 0 });
      for (const path of [
        "/root/kept/raw/branch/main/a.txt",
        "/root/kept/archive/main.tar.gz",
        "/root/kept",
        "/api/v1/repos/root/kept/contents",
      ]) {
        expect((await send("GET", path)).status, path).toBe(200);
      }
    };
    await readers();

    service.empty();

    expect((await send("GET", "/api/healthz")).status).toBe(200);
    await readers();
    for (const path of ["/api/v1/repos/root/lost", "/api/packages/root/generic/lost/1/file"]) {
      expect((await send("GET", path)).status, path).toBe(404);
    }
    expect(await push()).toMatchObject({ code: 0 });
    expect((await json("POST", "/user/repos", { name: "lost" })).status).toBe(201);
    expect(await send("PUT", "/api/packages/root/generic/lost/1/file", large)).toMatchObject({
      status: 201,
    });
  });
});

/** Bytes that don't compress, the same each time. */
function noise(count: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(count);
  let state = 1;
  for (let at = 0; at < count; at += 4) {
    state = Math.imul(state, 1_664_525) + 1_013_904_223;
    bytes.writeInt32LE(state | 0, at);
  }
  return bytes;
}
