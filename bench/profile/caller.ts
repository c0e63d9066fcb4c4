import { z } from "zod";

import type { StartedService } from "../support/started-service.ts";

/** The account of the profiles: the administrator of `openStartedService`. */
export const OWNER = "root";

/** Calls of the service by a token of its administrator. */
export type Caller = {
  token: string;
  /**
   * @returns The JSON of the answer, or its text. @throws Error for another status than one of
   *   success.
   */
  send: (method: string, path: string, body?: object | string) => Promise<unknown>;
};

/** Makes a token. A call with the password would take longer than most that are profiled. */
export async function openCaller({ origin, password }: StartedService): Promise<Caller> {
  const sendAs = async (
    authorization: string,
    method: string,
    path: string,
    body?: object | string,
  ): Promise<unknown> => {
    const answer = await fetch(`${origin}${path}`, {
      method,
      headers: { authorization, "content-type": "application/json" },
      body: typeof body === "object" ? JSON.stringify(body) : (body ?? null),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    return text.startsWith("{") ? JSON.parse(text) : text;
  };
  const basic = `Basic ${Buffer.from(`${OWNER}:${password}`).toString("base64")}`;
  const input = { name: "bench", scopes: ["all"] };
  const made = await sendAs(basic, "POST", `/api/v1/users/${OWNER}/tokens`, input);
  const token = z.object({ sha1: z.string() }).parse(made).sha1;
  return { token, send: (...call) => sendAs(`token ${token}`, ...call) };
}
