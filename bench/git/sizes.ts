import type { Dimensions } from "./history/plan.ts";

export const SIZES = ["small", "medium", "wide"] as const;
export type Size = (typeof SIZES)[number];

/** The generated histories, used if no repository is given. bench/README.md lists the resulting sizes. */
export const DIMENSIONS: Readonly<Record<Size, Dimensions>> = {
  small: {
    seed: 1,
    commits: 5000,
    files: 900,
    directories: 40,
    depth: 2,
    rootShare: 0.25,
    lines: 600,
    branches: 440,
    tags: 49,
  },
  // Few refs and long files.
  medium: {
    seed: 2,
    commits: 20_000,
    files: 13_000,
    directories: 120,
    depth: 1,
    rootShare: 0.65,
    lines: 1900,
    branches: 100,
    tags: 20,
  },
  // Many refs and many objects.
  wide: {
    seed: 3,
    commits: 63_000,
    files: 26_000,
    directories: 240,
    depth: 1,
    rootShare: 0.25,
    lines: 950,
    branches: 2700,
    tags: 800,
  },
};
