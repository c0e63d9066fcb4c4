// Loaded before each script (`node --import`), in plain JavaScript: an older Node cannot run the
// scripts' TypeScript, and would fail with a stack trace instead of an instruction.

const [major, minor] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `Edgeforge's scripts need Node 22.18 or later and this is ${process.versions.node}: ` +
      "run them through npm (npm ci, then npm start), which uses the project's own Node.",
  );
  process.exit(1);
}
