import type { SoakService } from "./service.ts";

/** The service, as its first administrator. Functions rather than methods, so that callers can pass them on. */
export type Forge = {
  /**
   * Sends a request to the API.
   *
   * @throws Error if the status is not of 2xx.
   */
  send: (method: string, path: string, json?: object) => Promise<unknown>;
  /** The URL of a repository for git, with a credential. */
  gitUrl: (repository: string) => string;
};

export const OWNER = "root";

/** Creates a token, since a password costs a hash with each request. */
export async function openForge({ origin, password }: SoakService): Promise<Forge> {
  const basic = `Basic ${Buffer.from(`${OWNER}:${password}`).toString("base64")}`;
  const token = { name: "soak", scopes: ["all"] };
  const created = await request(origin, basic, "POST", `/users/${OWNER}/tokens`, token);
  const { sha1 } = created as { sha1: string };
  const { host } = new URL(origin);
  return {
    send: (method, path, json) => request(origin, `token ${sha1}`, method, path, json),
    gitUrl: (repository) => `http://${OWNER}:${sha1}@${host}/${OWNER}/${repository}.git`,
  };
}

async function request(
  origin: string,
  authorization: string,
  method: string,
  path: string,
  json?: object,
): Promise<unknown> {
  const answer = await fetch(`${origin}/api/v1${path}`, {
    method,
    headers: { authorization, "content-type": "application/json" },
    body: json === undefined ? null : JSON.stringify(json),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") ?? false;
  return isJson ? JSON.parse(text) : text;
}
