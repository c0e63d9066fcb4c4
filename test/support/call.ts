import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";

import worker from "../../src/worker.ts";
import type { TestUser } from "./make.ts";

/** How a request is sent: by whom, and with what. */
export interface Sending {
  /** Sends this user's token. */
  as?: Pick<TestUser, "token">;
  token?: string;
  headers?: Record<string, string>;
  json?: unknown;
  body?: BodyInit;
}

/** What came back. The body is parsed where it is JSON, and "" where there is none. */
export interface Answer {
  status: number;
  headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests match whatever shape they expect
  body: any;
}

/** Requests a path of the API, as a client would. */
export function call(method: string, path: string, sending: Sending = {}): Promise<Answer> {
  return visit(method, `/api/v1${path}`, sending);
}

/** Requests any path of the service. */
export function visit(method: string, path: string, sending: Sending = {}): Promise<Answer> {
  return send(answer, method, path, sending);
}

/**
 * Answers a request with the Worker's own handler, in the test's isolate.
 *
 * The way through the runtime costs a millisecond more: tests of what the runtime adds take `exports.default.fetch`.
 * As there, nobody waits for `waitUntil` but the end of the test file.
 */
export function answer(request: Request): Promise<Response> {
  return Promise.resolve(
    worker.fetch(request as Parameters<typeof worker.fetch>[0], env, createExecutionContext()),
  );
}

/** Sends a request to whatever answers requests: the service, or one that is configured otherwise. */
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
  const response = await answerTo(request);
  // Not `text()`, of which the runtime warns where the type is none of text.
  const text = new TextDecoder().decode(await response.arrayBuffer());
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json") ?? false;
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== "" ? JSON.parse(text) : text,
  };
}

/** Basic, as a header. */
export const basic = (name: string, password: string): Record<string, string> => ({
  Authorization: `Basic ${btoa(`${name}:${password}`)}`,
});
