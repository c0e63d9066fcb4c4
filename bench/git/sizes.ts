import type { Dimensions } from "./history/plan.ts";

export const SIZES = ["small", "medium", "wide"] as const;
/**
 * With one whose pack has a gigabyte, which takes minutes to generate: only mirrors are measured
 * with it.
 */
export const MIRRORED_SIZES = [...SIZES, "large"] as const;
export type Size = (typeof MIRRORED_SIZES)[number];

/**
 * The generated histories, used if no repository is given. bench/README.md lists the resulting
 * sizes.
 */
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
  // Long files, most of them above the size that small objects have.
  large: {
    seed: 4,
    commits: 20_000,
    files: 20_000,
    directories: 150,
    depth: 1,
    rootShare: 0.5,
    lines: 9000,
    branches: 100,
    tags: 20,
  },
};
