import { z } from "zod";

import type { Request } from "../api/cases.ts";
import { ask, openClient, type Client } from "../api/client.ts";

/** A service that is measured. Functions rather than methods, so that callers can pass them on. */
export type Side = {
  name: string;
  client: Client;
  /** The process whose tree is the service. */
  pid: () => number;
  /** The token of the administrator. */
  token: string;
  /**
   * Sends a request of the API by the administrator.
   *
   * @throws Error if the status is not of 2xx.
   */
  send: (method: string, path: string, json?: object) => Promise<unknown>;
  /** Makes a token of an account. */
  makeToken: (account: string) => Promise<string>;
  close: () => void;
};

type Started = {
  name: string;
  origin: URL;
  pid: () => number;
  /** The first administrator. */
  administrator: { name: string; password: string };
};

const Token = z.object({ sha1: z.string() });

export async function openSide({ name, origin, pid, administrator }: Started): Promise<Side> {
  const client = openClient(origin);
  const send = async (
    authorization: string,
    method: string,
    path: string,
    json?: object,
  ): Promise<unknown> => {
    const answer = await fetch(new URL(`/api/v1${path}`, origin), {
      method,
      headers: { authorization, "content-type": "application/json" },
      body: json === undefined ? null : JSON.stringify(json),
    });
    const text = await answer.text();
    if (!answer.ok) {
      throw new Error(`${name}: ${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    }
    return text === "" ? undefined : JSON.parse(text);
  };
  const credentials = `${administrator.name}:${administrator.password}`;
  const basic = `Basic ${Buffer.from(credentials).toString("base64")}`;
  const makeToken = async (account: string): Promise<string> => {
    const input = { name: "bench", scopes: ["all"] };
    return Token.parse(await send(basic, "POST", `/users/${account}/tokens`, input)).sha1;
  };
  const token = await makeToken(administrator.name);
  return {
    name,
    client,
    pid,
    token,
    send: (method, path, json) => send(`token ${token}`, method, path, json),
    makeToken,
    close: () => client.close(),
  };
}

/** Sends a measured request. @returns Its duration, in milliseconds. */
export async function askOnce(side: Side, name: string, status: number, request: Request) {
  const answer = await ask(side.client, {
    name: `${side.name}: ${name}`,
    status,
    next: () => request,
  });
  return answer.durationMs;
}
