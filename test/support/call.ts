import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";

import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
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
export async function visit(method: string, path: string, sending: Sending = {}): Promise<Answer> {
  return readAnswer(await exports.default.fetch(toRequest(method, path, sending)));
}

/** Requests a path of the API of a service with settings and bindings of its own. */
export function callWith(variables: Record<string, string>, bindings: Partial<Env> = {}) {
  const app = createApp(parseConfig(variables));
  return async (method: string, path: string, sending: Sending = {}): Promise<Answer> => {
    const execution = createExecutionContext();
    const request = toRequest(method, `/api/v1${path}`, sending);
    const response = await app.fetch(request, { ...env, ...bindings }, execution);
    await waitOnExecutionContext(execution);
    return readAnswer(response);
  };
}

function toRequest(method: string, path: string, sending: Sending): Request {
  const token = sending.token ?? sending.as?.token;
  const headers = new Headers(sending.headers);
  if (token !== undefined) headers.set("Authorization", `token ${token}`);
  if (sending.json !== undefined) headers.set("Content-Type", "application/json");
  return new Request(`https://forge.example${path}`, {
    method,
    headers,
    body: sending.json === undefined ? (sending.body ?? null) : JSON.stringify(sending.json),
    redirect: "manual",
  });
}

async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
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
