import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";

import worker from "../../src/worker.ts";
import { checkAnswer } from "./check-answer.ts";
import type { TestUser } from "./make.ts";

/** Credential, headers and body of a request. */
export interface Sending {
  /** Authenticates with this user's token. */
  as?: Pick<TestUser, "token">;
  token?: string;
  headers?: Record<string, string>;
  json?: unknown;
  body?: BodyInit;
}

/** A response. A JSON body is parsed; a missing body is "". */
export interface Answer {
  status: number;
  headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests match the shape that they expect
  body: any;
}

const API_PATH = "/api/v1";

/** Requests a path below `/api/v1`. */
export function call(method: string, path: string, sending: Sending = {}): Promise<Answer> {
  return visit(method, `${API_PATH}${path}`, sending);
}

/** Requests any path of the service. */
export function visit(method: string, path: string, sending: Sending = {}): Promise<Answer> {
  return send(answer, method, path, sending);
}

/**
 * Calls the Worker's own fetch handler, in the test's isolate.
 *
 * A request through the runtime costs a millisecond more; tests of the runtime use
 * `exports.default.fetch`. As with the runtime, `waitUntil` work is awaited only at the end of the
 * test file.
 */
export async function answer(request: Request): Promise<Response> {
  return worker.fetch(request as Parameters<typeof worker.fetch>[0], env, createExecutionContext());
}

/**
 * How each request is served, to the end of its response: a test that counts what the service does
 * replaces it.
 */
export const serving = { run: <T>(serve: () => Promise<T>): Promise<T> => serve() };

/** Sends requests that are not counted: what those that are need. */
export async function uncounted<T>(prepare: () => Promise<T>): Promise<T> {
  const { run } = serving;
  serving.run = (serve) => serve();
  try {
    return await prepare();
  } finally {
    serving.run = run;
  }
}

/**
 * Sends a request to a fetch function: the service's own, or that of a service with other settings.
 *
 * @throws if it is an answer of the API that the interface description does not allow.
 */
export async function send(
  answerTo: (request: Request) => Promise<Response>,
  method: string,
  path: string,
  sending: Sending,
): Promise<Answer> {
  const token = sending.token ?? sending.as?.token;
  const headers = new Headers(sending.headers);
  if (token !== undefined) headers.set("Authorization", `token ${token}`);
  if (sending.json !== undefined) headers.set("Content-Type", "application/json");
  const request = new Request(`https://forge.example${path}`, {
    method,
    headers,
    body: sending.json === undefined ? (sending.body ?? null) : JSON.stringify(sending.json),
    redirect: "manual",
  });
  const { response, bytes } = await serving.run(async () => {
    const answered = await answerTo(request);
    return { response: answered, bytes: await answered.arrayBuffer() };
  });
  // Not `text()`: the runtime logs a warning if the content type is not textual.
  const text = new TextDecoder().decode(bytes);
  if (path.startsWith(API_PATH)) {
    const { status, headers: answered } = response;
    checkAnswer(method, path.slice(API_PATH.length), { status, headers: answered, text });
  }
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json") ?? false;
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== "" ? JSON.parse(text) : text,
  };
}

/** The `Authorization` header for Basic credentials. */
export const basic = (name: string, password: string): Record<string, string> => ({
  Authorization: `Basic ${btoa(`${name}:${password}`)}`,
});
