// Copyright 2026 The backupjob-operator authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"github.com/spf13/pflag"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// logOptions are the flags about logs, which both processes share.
type logOptions struct {
	level  string
	format string
}

func (o *logOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.level, "log-level", "info",
		"`level` of the least severe lines to write: debug, info, warn or error")
	flags.StringVar(&o.format, "log-format", "json",
		"`format` of the lines: json for machines, or text for people")
}

// setUp makes the logger and hands it to the libraries, so that one process
// writes one kind of line.
func (o *logOptions) setUp(to io.Writer) (logr.Logger, error) {
	level, err := zapcore.ParseLevel(o.level)
	if err != nil || level > zapcore.ErrorLevel {
		return logr.Logger{}, fmt.Errorf("--log-level must be debug, info, warn or error, not %q", o.level)
	}
	var encoder zapcore.Encoder
	switch o.format {
	case "json":
		encoder = zapcore.NewJSONEncoder(encoding())
	case "text":
		encoder = zapcore.NewConsoleEncoder(encoding())
	default:
		return logr.Logger{}, fmt.Errorf("--log-format must be json or text, not %q", o.format)
	}
	// No sampling: the decision log must hold every decision.
	core := zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(to)), level)
	log := zapr.NewLogger(zap.New(core))
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	return log, nil
}

func encoding() zapcore.EncoderConfig {
	config := zap.NewProductionEncoderConfig()
	config.TimeKey = "time"
	config.EncodeTime = func(at time.Time, to zapcore.PrimitiveArrayEncoder) {
		to.AppendString(at.UTC().Format("2006-01-02T15:04:05.000Z07:00"))
	}
	config.EncodeDuration = zapcore.StringDurationEncoder
	return config
}
