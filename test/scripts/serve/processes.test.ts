import { readdirSync, readFileSync } from "node:fs";
import { Agent, request } from "node:http";

import { describe, expect, it, onTestFinished } from "vitest";

import { projectRoot } from "../../../scripts/project.ts";
import { makeDirectory } from "../support/temporary.ts";
import { type Service, startService } from "../support/service.ts";

const PASSWORD = "correct horse battery";
const AUTHORIZATION = `Basic ${Buffer.from(`root:${PASSWORD}`).toString("base64")}`;

/** Connections of their own spread over all processes: with 16, one process has all in 2^-15. */
const CONNECTIONS = 16;

type Answer = { status: number; body: string };
type Call = { method?: string; path: string; body?: object; authorization?: string; agent?: Agent };

/** Starts a service with two entry processes. */
async function start(data = makeDirectory()): Promise<Service> {
  const env = {
    EDGEFORGE_DATA: data,
    EDGEFORGE_PROCESSES: "2",
    EDGEFORGE_ADMIN_PASSWORD: PASSWORD,
  };
  const service = await startService({ path: projectRoot }, env);
  onTestFinished(async () => void (await service.stop()));
  return service;
}

/** Sends a request, on a connection of its own unless `agent` has one. */
function send({ url }: Service, call: Call): Promise<Answer> {
  const { method = "GET", path, body, authorization = AUTHORIZATION, agent = false } = call;
  return new Promise((resolve, reject) => {
    const headers = { authorization, "content-type": "application/json" };
    const sent = request(`${url}${path}`, { method, headers, agent }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body && JSON.stringify(body));
  });
}

/** The answers of as many connections, and so of all processes. */
const sendToAll = (service: Service, call: Call): Promise<Answer[]> =>
  Promise.all(Array.from({ length: CONNECTIONS }, () => send(service, call)));

/** The ids of the processes of a service that run one of the configurations. */
function pidsOf({ pid }: Service, role: "keeper" | "entry"): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => {
      try {
        const [, stat = ""] = readFileSync(`/proc/${each}/stat`, "utf8").split(") ");
        const command = readFileSync(`/proc/${each}/cmdline`, "utf8");
        return stat.split(" ")[1] === String(pid) && command.endsWith(`/${role}.bin\0`);
      } catch {
        return false; // it has ended
      }
    });
}

// Elsewhere, connections are not spread over the processes that share a port.
describe.runIf(process.platform === "linux")("two entry processes", () => {
  it("see at once what either wrote", async () => {
    const service = await start();
    for (let at = 0; at < 5; at++) {
      const name = `shared-${at}`;
      const body = { name, auto_init: true };
      const created = await send(service, { method: "POST", path: "/api/v1/user/repos", body });
      expect(created.status).toBe(201);

      const path = `/api/v1/repos/root/${name}`;
      const found = await sendToAll(service, { path: `${path}/contents/README.md` });
      const page = await sendToAll(service, { path: `/root/${name}`, authorization: "" });
      await send(service, { method: "DELETE", path });
      const gone = await sendToAll(service, { path });

      expect(found.map(({ status }) => status)).toEqual(Array(CONNECTIONS).fill(200));
      expect(page.map(({ status }) => status)).toEqual(Array(CONNECTIONS).fill(200));
      expect(gone.map(({ status }) => status)).toEqual(Array(CONNECTIONS).fill(404));
    }
    expect(service.output()).not.toContain("not disposed");
  });

  // SECURITY: what a process keeps of who may read, and of answers to anonymous readers.
  it("forget at once what a write in the other has changed", async () => {
    const service = await start();
    const body = { name: "seen", auto_init: true };
    await send(service, { method: "POST", path: "/api/v1/user/repos", body });
    const path = "/api/v1/repos/root/seen";
    const read = async (page: string): Promise<number[]> =>
      (await sendToAll(service, { path: page, authorization: "" })).map(({ status }) => status);
    for (let at = 0; at < 5; at++) {
      expect(await read(path)).toEqual(Array(CONNECTIONS).fill(200));
      expect(await read("/root/seen")).toEqual(Array(CONNECTIONS).fill(200));

      const hidden = await send(service, { method: "PATCH", path, body: { private: true } });
      const [refused, page] = [await read(path), await read("/root/seen")];
      await send(service, { method: "PATCH", path, body: { private: false } });

      expect(hidden.status).toBe(200);
      expect(refused).toEqual(Array(CONNECTIONS).fill(404));
      expect(page).toEqual(Array(CONNECTIONS).fill(404));
    }
  });

  it("count wrong passwords together", async () => {
    const service = await start();
    const authorization = `Basic ${Buffer.from("root:wrong").toString("base64")}`;

    const answers: number[] = [];
    for (let at = 0; at < 12; at++) {
      answers.push((await send(service, { path: "/api/v1/user", authorization })).status);
    }

    expect(answers).toEqual([...Array(10).fill(401), 429, 429]);
  });

  it("lose only their own requests when one is killed, and are two again", async () => {
    const service = await start();
    const before = pidsOf(service, "entry");
    expect(before).toHaveLength(2);
    const end = new AbortController();
    const failures: string[] = [];
    let answered = 0;
    const load = async (): Promise<void> => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      while (!end.signal.aborted) {
        try {
          const { status } = await send(service, { path: "/api/v1/user", agent });
          if (status === 200) answered += 1;
          else failures.push(String(status));
        } catch (error) {
          failures.push(String(error));
        }
      }
      agent.destroy();
    };
    const loads = Array.from({ length: CONNECTIONS }, load);
    await expect.poll(() => answered).toBeGreaterThan(CONNECTIONS);

    for (const killed of before.slice(1)) process.kill(killed, "SIGKILL");
    await expect
      .poll(() => pidsOf(service, "entry").filter((pid) => !before.includes(pid)), {
        timeout: 20_000,
      })
      .toHaveLength(1);
    const then = answered;
    await expect.poll(() => answered - then).toBeGreaterThan(CONNECTIONS);
    end.abort();
    await Promise.all(loads);

    // A connection has one request at a time: those of the killed process, and no others, fail.
    expect(failures.length).toBeLessThan(CONNECTIONS);
    expect(service.output()).toContain("an entry process ended unexpectedly and is started again");
  });

  it("answer again after the process that keeps the data was killed", async () => {
    const service = await start();
    const keepers = pidsOf(service, "keeper");
    expect(keepers).toHaveLength(1);

    for (const keeper of keepers) process.kill(keeper, "SIGKILL");

    const body = { name: "after", auto_init: true };
    const create = () => send(service, { method: "POST", path: "/api/v1/user/repos", body });
    await expect.poll(async () => (await create()).status, { timeout: 20_000 }).toBe(201);
    expect(pidsOf(service, "entry")).toHaveLength(2);
  });

  it("finish what they have begun when the service stops", async () => {
    const data = makeDirectory();
    const service = await start(data);
    const created: string[] = [];
    const end = new AbortController();
    const failures: unknown[] = [];
    const create = async (writer: number): Promise<void> => {
      for (let at = 0; !end.signal.aborted; at++) {
        const name = `kept-${writer}-${at}`;
        const call = { method: "POST", path: "/api/v1/user/repos", body: { name } };
        const answer = await send(service, call).catch((error: unknown) => error as Error);
        if (answer instanceof Error) {
          // Not accepted any more, where a new connection is refused or was not taken.
          failures.push((answer as NodeJS.ErrnoException).code);
          return;
        }
        expect(answer.status).toBe(201);
        created.push(name);
      }
    };
    const writers = Array.from({ length: 4 }, (_, writer) => create(writer));
    await expect.poll(() => created.length, { timeout: 30_000 }).toBeGreaterThan(8);

    expect(await service.stop()).toBe(0);
    end.abort();
    await Promise.all(writers);

    expect(failures.every((code) => code === "ECONNREFUSED" || code === "ECONNRESET")).toBe(true);
    const after = await start(data);
    for (const name of created) {
      const { status } = await send(after, { path: `/api/v1/repos/root/${name}` });
      expect(status, name).toBe(200);
    }
  });
});
