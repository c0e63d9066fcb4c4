import { hostname, networkInterfaces } from "node:os";

import { describe, expect, it } from "vitest";

import { formatListenUrls } from "../../../scripts/serve/listen-urls.ts";

const addressOf = (family: "IPv4" | "IPv6") =>
  Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find((each) => each.family === family && !each.scopeid)?.address;

describe("formatListenUrls", () => {
  it.each([
    ["127.0.0.1", "http://127.0.0.1:8787"],
    ["0.0.0.0", "http://127.0.0.1:8787"],
    ["::", "http://127.0.0.1:8787"],
    ["::1", "http://[::1]:8787"],
    ["localhost", "http://localhost:8787"],
    ["192.0.2.7", "http://192.0.2.7:8787"],
  ])("begins with the URL to give to others: on %s it is %s", (host, url) => {
    expect(formatListenUrls(host, 8787, {}).split(",")[0]).toBe(url);
  });

  it("holds the addresses and the name of this machine, and the operator's own list", () => {
    const given = "https://forge.example,http://forge.internal";
    const urls = formatListenUrls("192.0.2.7", 8787, { LISTEN_URLS: given }).split(",");
    expect(urls).toEqual(expect.arrayContaining([`http://${addressOf("IPv4")}:8787`]));
    expect(urls).toContain(`http://${hostname().toLowerCase()}:8787`);
    expect(urls.slice(-2)).toEqual(given.split(","));
  });
});
