import { cpSync, readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const OUT = "../interfaces/http/page";
const MOST_KB = 500;

/** What pdf.js loads by itself: fonts and character maps that a PDF may name without holding them, and decoders of
 * images without WebAssembly, which our policy forbids. And the size of the page without the PDF viewer. */
const finish: Plugin = {
  name: "finish",
  closeBundle() {
    for (const folder of ["cmaps", "standard_fonts", "wasm"]) {
      const isUsed = (file: string) => !/\.wasm$|quickjs|qcms/i.test(file);
      cpSync(`node_modules/pdfjs-dist/${folder}`, `${OUT}/assets/pdf/${folder}`, { recursive: true, filter: isUsed });
    }
    const files = readdirSync(`${OUT}/assets`).filter((name) => /\.(js|css)$/.test(name) && !/^(pdf|PdfPages)/i.test(name));
    const kilobytes = files.reduce((sum, name) => sum + gzipSync(readFileSync(`${OUT}/assets/${name}`)).length, 0) / 1000;
    console.log(`The page without the PDF viewer: ${kilobytes.toFixed(0)} kB compressed, of at most ${MOST_KB}.`);
    if (kilobytes > MOST_KB) throw new Error("The page is too large.");
  },
};

export default defineConfig({
  base: "./",
  plugins: [react(), finish],
  build: { outDir: OUT, emptyOutDir: true, assetsInlineLimit: 0, license: { fileName: "licenses.md" } },
});
