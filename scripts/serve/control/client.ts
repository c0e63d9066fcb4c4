import { request } from "node:http";

import { text } from "node:stream/consumers";

import type { ControlCall } from "./calls.ts";

/**
 * Sends a call to the Worker that controls the service.
 *
 * @throws Error with the Worker's message.
 */
export type CallControl = (call: ControlCall) => Promise<unknown>;

/** @param socketPath The socket of the Worker that controls the service. */
export const callControl =
  (socketPath: string): CallControl =>
  async (call) => {
    const answer = await new Promise<string>((resolve, reject) => {
      const sent = request({ socketPath, method: "POST", path: "/" }, (response) => {
        text(response).then(resolve, reject);
      });
      sent.on("error", reject);
      sent.end(JSON.stringify(call));
    });
    const { value, error } = JSON.parse(answer) as { value: unknown; error?: string };
    if (error !== undefined) throw new Error(error);
    return value;
  };
