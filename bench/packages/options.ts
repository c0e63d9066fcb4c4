import { parseArgs } from "node:util";

import { Refusal } from "../../scripts/refusal.ts";
import { numberOption, refusingUnknown } from "../support/options.ts";

const FORMATS = ["npm", "pypi", "cargo", "container"] as const;
export type Format = (typeof FORMATS)[number];

/** Command-line options of the benchmark. */
export type Options = {
  /** The formats that are measured. */
  formats: readonly Format[];
  /** Versions of the large package of npm, and of the crate. */
  versions: number;
  /** Packages of an installation by npm. */
  packages: number;
  /** Files of the Python project. */
  files: number;
  /** Layers of the image. */
  layers: number;
  /** Size of each layer, in bytes. */
  layerBytes: number;
  /** Duration of each measurement of a case. */
  seconds: number;
};

/** @throws Refusal with the name of the option and its allowed values. */
export function parseOptions(args: string[]): Options {
  return refusingUnknown(() => {
    const { values } = parseArgs({
      args,
      options: {
        formats: { type: "string", default: FORMATS.join(",") },
        versions: { type: "string", default: "1000" },
        packages: { type: "string", default: "300" },
        files: { type: "string", default: "1000" },
        layers: { type: "string", default: "10" },
        "layer-mb": { type: "string", default: "50" },
        seconds: { type: "string", default: "2" },
      },
    });
    return {
      formats: parseFormats(values.formats),
      versions: numberOption("--versions", values.versions, 1, 10_000),
      packages: numberOption("--packages", values.packages, 1, 2000),
      files: numberOption("--files", values.files, 1, 10_000),
      layers: numberOption("--layers", values.layers, 1, 100),
      layerBytes: 1_000_000 * numberOption("--layer-mb", values["layer-mb"], 1, 1000),
      seconds: numberOption("--seconds", values.seconds, 0.1, 60),
    };
  });
}

function parseFormats(text: string): Format[] {
  const names = text.split(",");
  const formats = FORMATS.filter((format) => names.includes(format));
  if (formats.length === names.length) return formats;
  throw new Refusal(`--formats must be some of ${FORMATS.join(",")}, not "${text}"`);
}
