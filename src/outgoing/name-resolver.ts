import { z } from "zod";

import { type IpAddress, parseIpAddress } from "../lib/ip-address.ts";
import { readBody } from "./read-body.ts";

/** The result of resolving a name. */
export type Resolution =
  | { kind: "found"; addresses: IpAddress[] }
  /** The name does not exist, or has no address. */
  | { kind: "absent" }
  /** The resolver was not reached, or its response is not valid. */
  | { kind: "failed" };

/** Resolves a name to all its addresses. */
export interface NameResolver {
  resolve(name: string, signal: AbortSignal): Promise<Resolution>;
}

/** Resolves no name. Used if no resolver is configured. */
export const NO_RESOLVER: NameResolver = { resolve: () => Promise.resolve({ kind: "absent" }) };

const ANSWER_BYTES_MAX = 65_536;

/** DNS record types and response codes. */
const A = 1;
const AAAA = 28;
const NO_ERROR = 0;
const NO_SUCH_NAME = 3;

const DnsAnswer = z.object({
  Status: z.int(),
  Answer: z.array(z.object({ type: z.int(), data: z.string() })).optional(),
});

/**
 * A DNS-over-HTTPS client that uses the JSON format.
 *
 * A Worker cannot connect to a chosen address and still use TLS with a host name, so the platform
 * resolves the name again when the request is sent.
 */
export class DnsOverHttps implements NameResolver {
  private readonly url: string;

  /**
   * @param url Such as `https://cloudflare-dns.com/dns-query`. It is configured, so it is not
   *   checked.
   */
  constructor(url: string) {
    this.url = url;
  }

  /** Queries both address families in parallel. If either query fails, the resolution fails. */
  async resolve(name: string, signal: AbortSignal): Promise<Resolution> {
    const families = await Promise.all(
      [A, AAAA].map((type) => this.query(name, type, signal).catch(() => undefined)),
    );
    const addresses: IpAddress[] = [];
    for (const family of families) {
      if (!family) return { kind: "failed" };
      addresses.push(...family);
    }
    return addresses.length === 0 ? { kind: "absent" } : { kind: "found", addresses };
  }

  /**
   * @returns Undefined if the response is not valid.
   * @throws Error if the resolver is not reached or its response is not JSON.
   */
  private async query(
    name: string,
    type: number,
    signal: AbortSignal,
  ): Promise<IpAddress[] | undefined> {
    const url = new URL(this.url);
    url.searchParams.set("name", name);
    url.searchParams.set("type", String(type));
    // oxlint-disable-next-line no-restricted-globals -- this is the guarded client
    const response = await fetch(url, {
      headers: { Accept: "application/dns-json" },
      redirect: "manual",
      signal,
    });
    const { bytes, isCut } = await readBody(response, ANSWER_BYTES_MAX);
    return response.status === 200 && !isCut
      ? addressesOf(JSON.parse(new TextDecoder().decode(bytes)), type)
      : undefined;
  }
}

/** Alias records in the response are skipped, because the resolver has followed them. */
function addressesOf(json: unknown, type: number): IpAddress[] | undefined {
  const { success, data } = DnsAnswer.safeParse(json);
  if (!success) return undefined;
  if (data.Status === NO_SUCH_NAME) return [];
  if (data.Status !== NO_ERROR) return undefined;
  const addresses: IpAddress[] = [];
  for (const record of data.Answer ?? []) {
    if (record.type !== type) continue;
    const address = parseIpAddress(record.data);
    if (!address) return undefined;
    addresses.push(address);
  }
  return addresses;
}
