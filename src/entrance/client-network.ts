import { parseIpAddress, subscriberNetwork } from "../lib/ip-address.ts";

/**
 * The network that a request came from.
 *
 * @param name The header in which a trusted proxy states the address; "" for none. Of a list, the last address counts:
 * the proxy added it, and those before it are the client's word.
 * @returns Undefined if the header is missing or holds no address.
 */
export function readClientNetwork(headers: Headers, name: string): string | undefined {
  if (name === "") return undefined;
  const address = parseIpAddress(headers.get(name)?.split(",").at(-1)?.trim() ?? "");
  return address && subscriberNetwork(address);
}
