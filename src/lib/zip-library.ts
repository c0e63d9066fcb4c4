import { configure, ZipReader } from "@zip.js/zip.js/lib/zip-core-native.js";

// The library unpacks a few contents at once, over all requests of an isolate, and lets the others
// wait. A request that is woken by another one never ends on Workers, and one that is cut off would
// keep its place for ever.
configure({ maxWorkers: Number.MAX_SAFE_INTEGER });

export { ZipReader };
