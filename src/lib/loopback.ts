/** Whether the host of a URL is a loopback address. */
export const isLoopbackAddress = (hostname: string): boolean =>
  hostname === "127.0.0.1" || hostname === "[::1]";

/**
 * Whether the host of a URL is a loopback address or `localhost`, which resolvers may lead
 * elsewhere. No other site has these names in a browser.
 */
export const isLoopbackName = (hostname: string): boolean =>
  hostname === "localhost" || isLoopbackAddress(hostname);
