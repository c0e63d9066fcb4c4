import { randomBytes } from "node:crypto";

import { z } from "zod";

import type { BindingServers } from "../../scripts/serve/worker.ts";
import { openService } from "../support/service.ts";
import type { Forge, Usage } from "./forge.ts";
import { readCpuTime } from "../support/process.ts";
import { waitForRest } from "../support/rest.ts";

/** The service, with the API operations of the cases. */
export type Edgeforge = Forge & {
  owner: string;
  /** Calls the API as the owner. */
  call: User["call"];
  /** Creates another user. */
  makeUser: (name: string) => Promise<User>;
};

/** An account that calls the API. */
type User = {
  name: string;
  call: (method: string, path: string, body?: object) => Promise<ApiAnswer>;
};

export type ApiAnswer = { status: number; text: string };

/**
 * The fields of the service's log lines that are read here: a line for each request, and another
 * one at the end of a streamed response.
 */
const RequestLine = z.looseObject({
  event: z.enum(["request", "git:sent"]),
  id: z.string(),
  r2Calls: z.number(),
  objectCalls: z.number(),
  bufferedBytesPeak: z.number().optional(),
});
type RequestLine = z.infer<typeof RequestLine>;

/**
 * Starts the service as `npm start` does, with its state in `data`.
 *
 * @param vars    Settings that differ from wrangler.toml's.
 * @param servers What serves its bindings, where not what `npm start` has.
 */
export async function openEdgeforge(
  data: string,
  vars: Record<string, string> = {},
  servers: BindingServers = {},
): Promise<Edgeforge> {
  const administrator = {
    name: "root",
    password: randomBytes(18).toString("base64url"),
    email: "root@example.com",
  };
  // By request id: the later line includes the counts of the earlier one.
  let lines = new Map<string, RequestLine>();
  const service = await openService(data, {
    administrator,
    vars,
    servers,
    onLog: ({ level, message }) => {
      const line = RequestLine.safeParse(message.startsWith("{") ? JSON.parse(message) : undefined);
      if (line.success) lines.set(line.data.id, line.data);
      else if (level === "error") console.error(message);
    },
  });
  const { origin } = service;

  const send = async (
    authorization: string,
    method: string,
    path: string,
    body?: object,
  ): Promise<ApiAnswer> => {
    const response = await fetch(new URL(`/api/v1${path}`, origin), {
      method,
      headers: { authorization, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };
  // Password verification is slow on purpose; tokens are fast.
  const login = async (name: string, password: string): Promise<User & { token: string }> => {
    const basic = `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
    const input = { name: "bench", scopes: ["all"] };
    const made = await send(basic, "POST", `/users/${name}/tokens`, input);
    const { sha1: token } = z
      .object({ sha1: z.string() })
      .parse(JSON.parse(expect(201, made).text));
    return { name, token, call: (...request) => send(`token ${token}`, ...request) };
  };
  const root = await login(administrator.name, administrator.password);
  const credentials = Buffer.from(`${root.name}:${root.token}`).toString("base64");

  const cpuSeconds = (): number => readCpuTime(service.pid()).own;

  return {
    name: "edgeforge",
    owner: root.name,
    call: root.call,
    makeUser: async (name) => {
      const password = randomBytes(18).toString("base64url");
      const email = `${name}@example.com`;
      const account = { username: name, password, email, must_change_password: false };
      expect(201, await root.call("POST", "/admin/users", account));
      return login(name, password);
    },
    create: async (name, branch) => {
      expect(201, await root.call("POST", "/user/repos", { name, default_branch: branch }));
      return new URL(`/${root.name}/${name}.git`, origin).href;
    },
    // Sent with the first request: an unauthenticated first attempt would cost an additional round
    // trip.
    writeOptions: ["-c", `http.extraHeader=Authorization: Basic ${credentials}`],
    // A repository that was pushed in one push is one pack already.
    compact: async () => {},
    settle: () => waitForRest(cpuSeconds),
    cpuSeconds,
    pid: service.pid,
    takeUsage: () => {
      const taken = lines;
      lines = new Map();
      return sum(taken.values());
    },
    close: service.close,
  };
}

function sum(lines: Iterable<RequestLine>): Usage {
  const usage: Usage = { r2Calls: 0, objectCalls: 0, bufferedBytes: undefined };
  for (const { r2Calls, objectCalls, bufferedBytesPeak } of lines) {
    usage.r2Calls += r2Calls;
    usage.objectCalls += objectCalls;
    if (bufferedBytesPeak !== undefined) {
      usage.bufferedBytes = Math.max(usage.bufferedBytes ?? 0, bufferedBytesPeak);
    }
  }
  return usage;
}

/** @throws Error for another status. */
export function expect(status: number, answer: ApiAnswer): ApiAnswer {
  if (answer.status === status) return answer;
  throw new Error(`unexpected status ${answer.status} from the API: ${answer.text.slice(0, 300)}`);
}
